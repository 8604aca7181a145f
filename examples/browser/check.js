// Compares the port with the bundle's golden vectors in this browser.

import * as ort from "onnxruntime-web/wasm";
import { fromAddress } from "./port/bundle.js";
import { compare, readGolden } from "./port/golden.js";
import { Keyboard } from "./port/keyboard.js";
import { $, make } from "./web/page.js";

async function check() {
  ort.env.wasm.numThreads = 1;
  const keyboard = await Keyboard.load(fromAddress(document.baseURI), ort);
  const report = await compare(keyboard, await readGolden(keyboard));
  const { swipes, asked, worst, limits, failures, ms, encoderMs } = report;
  $("#verdict").textContent = failures.length
    ? `${failures.length} differences in ${swipes} swipes.`
    : `All ${swipes} swipes agree. ${ms.toFixed(1)} ms a swipe, ${encoderMs.toFixed(1)} ms of it the encoder. The matcher was asked about ${asked}.`;
  const row = ([stage, far]) => [stage, far.toExponential(1), limits[stage].toExponential(0)].map((text) => make("td", { text }));
  $("#stages tbody").replaceChildren(...Object.entries(worst).map((entry) => make("tr", {}, ...row(entry))));
  $("#stages").hidden = false;
  $("#failures").textContent = failures.slice(0, 50).join("\n");
  window.report = report; // for a test to read
}

check().catch((error) => { $("#verdict").textContent = error.message; window.report = { failures: [error.message] }; });
