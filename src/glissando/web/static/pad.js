// The letter area: draws a layout, follows fingers at their full rate, and draws the trail under them.

import { interrupted } from "./interrupt.js";
import { make } from "./page.js";
import { ownTouches } from "./press.js";
import { drawTrail } from "./trail.js";
import { Turns } from "./turns.js";

export { colourAt, drawTrail } from "./trail.js";

const MAX_POINTS = 4000; // the server takes 4,096
const TAP = 0.3; // of a key: a pointer that stays nearer to its start taps
const HOLD_MS = 480; // a pointer that stays so long on a key holds it
const LINGER = 420; // ms a trail stays after the finger has gone

export class Pad {
  // on: {start(), move(points), end(points, {tap, pointer}), cancel(), allows(pointerType),
  //      hold(key, box), steer(x, y), release(): a key is held, the finger moves, it lifts;
  //      steer says whether the finger still chooses, and where it does not the touch is a swipe again;
  //      release says whether something was chosen;
  //      type(letter): a key was pressed without a pointer}
  // options: {fingers, turns}: how many fingers count at a time, and the turns that they share with other keys.
  constructor(root, on = {}, { fingers = 1, turns = new Turns() } = {}) {
    Object.assign(this, { root, on, fingers, turns });
    this.keysBox = make("div", { "aria-hidden": on.type ? null : "true" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    root.replaceChildren(this.keysBox, this.canvas);
    this.strokes = new Map(); // by pointer
    this.trail = [];
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("pointermove", (event) => this.#move(event));
    root.addEventListener("pointerup", (event) => this.#up(event));
    root.addEventListener("pointercancel", (event) => this.#cancel(event.pointerId));
    root.addEventListener("lostpointercapture", (event) => this.#cancel(event.pointerId));
    root.addEventListener("contextmenu", (event) => event.preventDefault());
    ownTouches(root);
    interrupted(() => { for (const id of [...this.strokes.keys()]) this.#cancel(id); });
    if (on.type) this.#byKeyboard();
    new ResizeObserver(() => this.#fit()).observe(root);
  }

  setLayout(layout) {
    for (const id of [...this.strokes.keys()]) this.#cancel(id);
    this.layout = layout;
    this.root.style.aspectRatio = `1 / ${layout.aspect}`;
    this.root.style.setProperty("--aspect", layout.aspect);
    this.boxes = layout.keys.map((key, i) => {
      const label = make("span", { text: key.letter });
      const box = this.on.type ? make("button", { class: "key", type: "button", tabindex: i ? "-1" : "0", "aria-label": key.letter }, label) : make("div", { class: "key" }, label);
      Object.assign(box.style, {
        left: `${(key.cx - key.rx) * 100}%`, top: `${(key.cy - key.ry) * 100}%`,
        width: `${key.rx * 200}%`, height: `${key.ry * 200}%`,
      });
      return box;
    });
    this.keysBox.replaceChildren(...this.boxes);
    this.#fit();
  }

  get size() {
    const { width, height } = this.root.getBoundingClientRect();
    return { width, height };
  }

  // The points of the finger that came first, while it is down.
  get points() { return this.#first?.points ?? null; }
  get #first() { return this.strokes.values().next().value; }

  // The key that is nearest, counted in keys.
  keyAt(x, y) {
    const far = (key) => Math.hypot((x - key.cx) / key.rx, (y - key.cy) / key.ry);
    return this.layout.keys.reduce((best, key) => (far(key) < far(best) ? key : best));
  }

  letterAt(x, y) { return this.keyAt(x, y).letter; }

  #down(event) {
    if (event.button > 0 || !this.layout || this.strokes.has(event.pointerId)) return;
    if (this.on.allows && !this.on.allows(event.pointerType)) return;
    // The first finger on the screen: whatever another one has left behind is over.
    if (event.isPrimary && this.fingers > 1) for (const [id, one] of this.strokes) if (one.type === event.pointerType) this.#cancel(id);
    if (this.strokes.size >= this.fingers) return;
    event.preventDefault();
    this.root.setPointerCapture(event.pointerId);
    const stroke = { type: event.pointerType, rect: this.root.getBoundingClientRect(), origin: event.timeStamp, points: [], turn: this.turns.begin() };
    if (!this.strokes.size) this.trail = [];
    this.strokes.set(event.pointerId, stroke);
    this.#push(stroke, event);
    stroke.key = this.keyAt(stroke.points[0][0], stroke.points[0][1]);
    if (this.on.hold) stroke.timer = setTimeout(() => this.#hold(stroke), HOLD_MS);
    this.#press();
    if (stroke === this.#first) this.on.start?.();
    this.#draw();
  }

  #move(event) {
    const stroke = this.strokes.get(event.pointerId);
    if (!stroke) return;
    // The browser bundles what came between two frames; the encoder wants all of it.
    const bundle = event.getCoalescedEvents?.() ?? [];
    for (const one of bundle.length ? bundle : [event]) this.#push(stroke, one);
    if (stroke.held) stroke.held = this.on.steer(event.clientX, event.clientY);
    else if (stroke.timer && !this.#isTap(stroke)) this.#stopWaiting(stroke);
    if (stroke === this.#first && !stroke.held) this.on.move?.(stroke.points);
    this.#draw();
  }

  #up(event) {
    const stroke = this.strokes.get(event.pointerId);
    if (!stroke) return;
    this.#push(stroke, event);
    const { points, turn, held } = stroke;
    this.#finish(event.pointerId);
    const tap = this.#isTap(stroke);
    if (held && this.on.release()) turn.drop();
    else turn.end(() => this.on.end?.(points, { tap, pointer: event.pointerType || "mouse" }));
  }

  #cancel(id) {
    const stroke = this.strokes.get(id);
    if (!stroke) return;
    this.#finish(id);
    this.trail = [];
    if (stroke.held) this.on.release(false);
    stroke.turn.drop();
    this.on.cancel?.();
  }

  #hold(stroke) {
    const box = this.boxes[this.layout.keys.indexOf(stroke.key)];
    stroke.timer = 0;
    stroke.held = this.strokes.size === 1 && this.on.hold(stroke.key, box);
  }

  #stopWaiting(stroke) {
    clearTimeout(stroke.timer);
    stroke.timer = 0;
  }

  #finish(id) {
    this.#stopWaiting(this.strokes.get(id));
    this.strokes.delete(id);
    this.ended = performance.now();
    this.#press();
    this.#draw();
  }

  #push(stroke, event) {
    const { points, rect } = stroke;
    const x = (event.clientX - rect.left) / rect.width;
    const y = (event.clientY - rect.top) / rect.height;
    const last = points.at(-1);
    const t = Math.max(event.timeStamp - stroke.origin, last?.[2] ?? 0);
    if (last && last[0] === x && last[1] === y && last[2] === t) return;
    const round = (value, unit) => Math.round(value * unit) / unit;
    points.push([round(x, 1e5), round(y, 1e5), round(t, 10)]);
    if (stroke === this.#first) this.trail.push([x, y]);
    if (points.length > MAX_POINTS) stroke.points = points.filter((_, i) => i % 2 === 0);
    if (this.trail.length > MAX_POINTS) this.trail = this.trail.filter((_, i) => i % 2 === 0);
  }

  #isTap({ points, key }) {
    const far = ([x, y]) => Math.hypot((x - points[0][0]) / key.rx / 2, (y - points[0][1]) / key.ry / 2);
    return points.every((point) => far(point) < TAP);
  }

  // The keys that fingers came down on are shown pressed.
  #press() {
    const down = new Set([...this.strokes.values()].map((stroke) => stroke.key));
    this.layout.keys.forEach((key, i) => this.boxes[i].classList.toggle("down", down.has(key)));
  }

  // One key can be reached with Tab, the others from there with the arrow keys.
  #byKeyboard() {
    this.keysBox.addEventListener("click", (event) => {
      const at = this.boxes.indexOf(event.target.closest(".key"));
      if (at >= 0 && event.detail === 0) this.on.type(this.layout.keys[at].letter);
    });
    this.keysBox.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      const at = this.boxes.indexOf(document.activeElement);
      if (!step || at < 0) return;
      event.preventDefault();
      event.stopPropagation();
      const next = this.#neighbour(this.layout.keys[at], step);
      if (next < 0) return;
      this.boxes.forEach((box, i) => { box.tabIndex = i === next ? 0 : -1; });
      this.boxes[next].focus();
    });
  }

  // The number of the nearest key in a direction, or -1.
  #neighbour(from, [right, below]) {
    const far = (key) => {
      const [x, y] = [(key.cx - from.cx) / from.rx, (key.cy - from.cy) / from.ry];
      const [ahead, aside] = right ? [x * right, y] : [y * below, x];
      return ahead > 0.5 ? ahead + 4 * Math.abs(aside) : Infinity;
    };
    const distances = this.layout.keys.map(far);
    const least = Math.min(...distances);
    return least === Infinity ? -1 : distances.indexOf(least);
  }

  #fit() {
    const { width, height } = this.size;
    const scale = Math.min(window.devicePixelRatio || 1, 3);
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
  }

  #draw() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      const left = this.strokes.size ? 1 : 1 - (performance.now() - this.ended) / LINGER;
      const context = this.canvas.getContext("2d");
      context.clearRect(0, 0, this.canvas.width, this.canvas.height);
      if (left <= 0) return;
      drawTrail(context, this.trail, left);
      if (!this.strokes.size) this.#draw();
    });
  }
}
