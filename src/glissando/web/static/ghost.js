// A ghost finger that swipes a word over the keys. It only draws: touches go to the keys.

import { make } from "./page.js";
import { drawTrail } from "./trail.js";

const START_MS = 500; // it rests on the first key
const LEG_MS = 330; // from key to key
const REST_MS = 1200; // after the last key
const TIMES = 3; // then the line stays
const STEPS = 14; // points of a leg

/** The path of a finger over keys, slower near each key: [[x, y], ...] in the unit square. */
export function ghostPath(keys) {
  const slow = (share) => share * share * (3 - 2 * share);
  const points = [[keys[0].cx, keys[0].cy]];
  keys.slice(1).forEach((key, i) => {
    const from = keys[i];
    for (let step = 1; step <= STEPS; step += 1) {
      const share = slow(step / STEPS);
      points.push([from.cx + share * (key.cx - from.cx), from.cy + share * (key.cy - from.cy)]);
    }
  });
  return points;
}

export class Ghost {
  // root: the letter area.
  constructor(root) {
    this.root = root;
    this.canvas = make("canvas", { class: "ghost", "aria-hidden": "true" });
    this.frame = 0;
    new ResizeObserver(() => { if (this.path) this.#fit(); }).observe(root);
  }

  /** Swipes over keys. at(i): the finger has come to the key i. Where less motion is wanted, only the line is shown. */
  show(keys, at = () => {}) {
    this.hide();
    this.root.append(this.canvas);
    Object.assign(this, { path: ghostPath(keys), at, started: performance.now(), reached: 0 });
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#fit();
    if (!this.still) this.frame = requestAnimationFrame(() => this.#step());
  }

  hide() {
    cancelAnimationFrame(this.frame);
    this.path = null;
    this.canvas.remove();
  }

  #step() {
    const legs = (this.path.length - 1) / STEPS;
    const round = START_MS + legs * LEG_MS + REST_MS;
    const gone = performance.now() - this.started;
    const share = Math.min(Math.max((gone % round) - START_MS, 0) / Math.max(legs * LEG_MS, 1), 1);
    this.still = gone >= TIMES * round;
    this.#draw(this.still ? 1 : share);
    const key = Math.floor(share * legs + 1e-6);
    if (key !== this.reached) this.at(key);
    this.reached = key;
    if (!this.still) this.frame = requestAnimationFrame(() => this.#step());
  }

  #fit() {
    const { width, height } = this.root.getBoundingClientRect();
    const scale = Math.min(window.devicePixelRatio || 1, 3);
    [this.canvas.width, this.canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    this.#draw(this.still ? 1 : 0);
  }

  #draw(share) {
    const context = this.canvas.getContext("2d");
    const { width, height } = this.canvas;
    const count = Math.round(share * (this.path.length - 1)) + 1;
    const [x, y] = this.path[count - 1];
    context.clearRect(0, 0, width, height);
    drawTrail(context, this.path.slice(0, count));
    const finger = getComputedStyle(this.root).getPropertyValue("--accent");
    const radius = Math.min(width * 0.034, height * 0.12);
    Object.assign(context, { fillStyle: finger, strokeStyle: finger, lineWidth: radius / 5, globalAlpha: 0.35 });
    context.beginPath();
    context.arc(x * width, y * height, radius, 0, 7);
    context.fill();
    context.globalAlpha = 1;
    context.stroke();
  }
}
