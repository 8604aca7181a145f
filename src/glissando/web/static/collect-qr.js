// Draws QR codes, which the server has made.

import { $, makeSvg } from "./page.js";

const MARGIN = 4; // modules, as the standard asks

/** rows: of 0 (light) and 1 (dark). label: what it leads to, for screen readers. */
export function qrPicture(rows, label) {
  const size = rows.length + 2 * MARGIN;
  const dark = rows.flatMap((row, y) => [...row].flatMap((module, x) => (module === "1" ? [`M${x + MARGIN} ${y + MARGIN}h1v1h-1z`] : [])));
  return makeSvg("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    makeSvg("rect", { width: size, height: size, fill: "#fff" }), makeSvg("path", { d: dark.join(""), fill: "#000" }));
}

/** Shows on a screen where a phone finds this page, for whoever sees it on something else. */
export function showPhone({ address, qr }, screen) {
  const why = screen === "desktop" ? "Swipes are collected from fingers on touch screens." : "Fingers on a touch screen give the best swipes.";
  $("#phone-code").replaceChildren(...(address ? [qrPicture(qr, `QR code of ${address}`)] : []));
  $("#phone-address").textContent = address ?? "";
  $("#phone-text").textContent = `${why} ${address ? "Scan the code, or open this address:" : "Phones cannot reach this server: its operator can start it with --host 0.0.0.0."}`;
  $(`[data-screen=${screen}] h1`).after($("#phone"));
}
