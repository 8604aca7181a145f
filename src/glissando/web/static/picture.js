// A small picture of a layout.

import { makeSvg } from "./page.js";

const WIDTH = 200;
const MAX_ASPECT = 0.8; // a tower is drawn in the height of four rows

/** Draws the keys of a layout; it says nothing to screen readers, its name stands beside it. */
export function layoutPicture(layout) {
  const height = WIDTH * Math.min(layout.aspect, MAX_ASPECT);
  const width = Math.min(WIDTH, height / layout.aspect);
  const left = (WIDTH - width) / 2;
  const keys = layout.keys.flatMap(({ letter, cx, cy, rx, ry }) => {
    const [w, h] = [Math.max(2 * rx * width - 2, 1), Math.max(2 * ry * height - 3, 1)];
    const [x, y] = [left + cx * width, cy * height];
    const text = makeSvg("text", { x, y, "font-size": Math.min(w * 0.8, h * 0.6, 15), "text-anchor": "middle", "dominant-baseline": "central" });
    text.textContent = letter;
    return [makeSvg("rect", { x: x - w / 2, y: y - h / 2, width: w, height: h, rx: Math.min(3, w / 3) }), text];
  });
  return makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "layout-picture", "aria-hidden": "true" }, ...keys);
}
