// A keyboard that decodes in the page: the port, with the web keyboard's keys and trail.

import * as ort from "onnxruntime-web/wasm";
import { fromAddress } from "./port/bundle.js";
import { Keyboard } from "./port/keyboard.js";
import { resample } from "./port/resample.js";
import { $, languageName, layoutName, make, percent, themeButton, toast } from "./web/page.js";
import { Pad } from "./web/pad.js";
import { TextLine } from "./line.js";

const SHOWN = 6; // candidates
const PREVIEW_MS = 90; // at most one preview in so many milliseconds, and one at a time

let keyboard;
let stroke = 0;
const line = new TextLine($("#text"), () => showWord());
const pad = new Pad($("#pad"), {
  start: () => { stroke += 1; },
  move: (points) => preview(points),
  end: (points, { tap }) => (tap ? line.addLetter(pad.letterAt(points[0][0], points[0][1])) : decode(points)),
});

async function start() {
  themeButton($("#theme"));
  $("#space").addEventListener("click", () => line.space());
  $("#backspace").addEventListener("click", () => line.backspace());
  $("#clear").addEventListener("click", () => line.clear());
  ort.env.wasm.numThreads = 1; // more threads want headers that a plain static server does not send
  const read = fromAddress(document.baseURI);
  pad.setLayout(JSON.parse(new TextDecoder().decode(await read("layout.json")))); // keys first, the rest may take a second
  keyboard = await Keyboard.load(read, ort);
  await keyboard.decode([[0.5, 0.5, 0]]); // the first run is the slowest
  const { layout, language, lexicon } = keyboard.bundle.manifest;
  $("#about").textContent = `${layoutName(layout)}, ${languageName(language)}, ${lexicon.words.toLocaleString("en")} words. No server: what you swipe stays here.`;
  $("#pad").dataset.ready = "";
}

// The steps of Keyboard.decode, timed one by one.
async function timed(points) {
  const times = [performance.now()];
  const lap = (value) => { times.push(performance.now()); return value; };
  const path = lap(resample(points, keyboard.constants.path));
  const read = lap(await keyboard.read(path));
  const spellings = lap(keyboard.find(points, read));
  const matches = lap(await keyboard.match(path, spellings));
  const finalists = keyboard.score(spellings, matches);
  const candidates = lap(keyboard.choose(finalists, SHOWN, line.text));
  return { candidates, scoring: finalists.constants, steps: times.slice(1).map((time, i) => time - times[i]) };
}

let previewing = false;
let previewed = 0;
async function preview(points) {
  const now = performance.now();
  if (!keyboard || previewing || now - previewed < PREVIEW_MS || points.length < 6) return;
  [previewing, previewed] = [true, now];
  const mine = stroke;
  const [best] = await keyboard.decode(points.slice(), 1, line.text);
  previewing = false;
  if (best && mine === stroke && pad.points) $("#candidates").replaceChildren(make("span", { class: "preview", text: best.word }));
}

async function decode(points) {
  if (!keyboard) { toast("The keyboard is still loading."); return; }
  const { candidates, ...found } = await timed(points);
  if (!candidates.length) { toast("No word found."); showWord(); return; }
  line.space();
  line.addWord({ text: candidates[0].word, candidates, ...found });
}

// What belongs to the chosen word: its candidates, their terms and the times.
function showWord() {
  const word = line.current;
  const candidates = word?.candidates ?? [];
  $("#candidates").replaceChildren(...candidates.map((one) => {
    const bar = make("i");
    bar.style.width = `${Math.max(2, one.probability * 100)}%`;
    return make("button", { class: "candidate", type: "button", "aria-pressed": String(one.word === word.text), onclick: () => accept(one) },
      make("span", { text: one.word }), make("small", { text: percent(one.probability) }), bar);
  }));
  for (const box of ["#terms", "#steps"]) $(box).hidden = !candidates.length;
  $("#terms tbody").replaceChildren(...candidates.map((one) => make("tr", {}, ...row(one, word.scoring).map((text) => make("td", { text })))));
  if (word?.steps) showSteps(word.steps);
}

// A word that is in no list becomes one of the person's own, for as long as the page is open.
function accept({ word, literal }) {
  if (literal) keyboard.learn(word);
  line.replace(word);
  showWord();
}

function row({ word, letters, literal, logProb, frequency, fluency, location, shape, match, gain, score }, scoring) {
  const length = [...letters].length;
  const listed = scoring.frequency_weight * Math.max(frequency, scoring.frequency_floor);
  const terms = [
    logProb / length ** scoring.length_exponent, scoring.length_bonus * length,
    literal ? scoring.literal_bonus + scoring.fluency_weight * fluency : listed,
    scoring.matcher_weight * match - scoring.location_weight * location - scoring.shape_weight * shape,
    scoring.context_weight * gain, score,
  ];
  return [word, ...terms.map((term) => term.toFixed(1).replace("-", "−"))];
}

function showSteps(steps) {
  const names = ["resample", "network", "search", "match", "rank"];
  $("#steps").replaceChildren(...steps.map((ms, i) => {
    const box = make("div", {}, make("b", { text: `${ms.toFixed(1)} ms` }), names[i]);
    box.style.flexGrow = String(Math.max(ms, 0.05));
    return box;
  }));
  $("#steps").setAttribute("aria-label", steps.map((ms, i) => `${names[i]} ${ms.toFixed(1)} milliseconds`).join(", "));
}

start().catch((error) => { $("#about").textContent = error.message; toast(error.message, 60000); });
