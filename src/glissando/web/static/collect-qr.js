// Draws a QR code, which the server has made.

import { makeSvg } from "./page.js";

const MARGIN = 4; // modules, as the standard asks

/** rows: of 0 (light) and 1 (dark). label: what it leads to, for screen readers. */
export function qrPicture(rows, label) {
  const size = rows.length + 2 * MARGIN;
  const dark = rows.flatMap((row, y) => [...row].flatMap((module, x) => (module === "1" ? [`M${x + MARGIN} ${y + MARGIN}h1v1h-1z`] : [])));
  return makeSvg("svg", { viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    makeSvg("rect", { width: size, height: size, fill: "#fff" }), makeSvg("path", { d: dark.join(""), fill: "#000" }));
}
