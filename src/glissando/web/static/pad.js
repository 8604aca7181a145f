// The letter area: draws a layout, follows one pointer at its full rate, and draws the trail under it.

import { make } from "./page.js";

const MAX_POINTS = 4000; // the server takes 4,096
const TAP = 0.3; // of a key: a pointer that stays nearer to its start taps
const LINGER = 420; // ms a trail stays after the finger has gone
const COLOURS = [[34, 184, 207], [112, 72, 232], [230, 73, 128]]; // from touch-down to lift-off

export class Pad {
  // on: {start(), move(points), end(points, {tap, pointer}), allows(pointerType)}
  constructor(root, on = {}) {
    this.root = root;
    this.on = on;
    this.keysBox = make("div", { "aria-hidden": "true" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    root.replaceChildren(this.keysBox, this.canvas);
    this.points = null;
    this.trail = [];
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("pointermove", (event) => this.#move(event));
    root.addEventListener("pointerup", (event) => this.#up(event));
    root.addEventListener("pointercancel", (event) => this.#cancel(event));
    root.addEventListener("contextmenu", (event) => event.preventDefault());
    new ResizeObserver(() => this.#fit()).observe(root);
  }

  setLayout(layout) {
    this.layout = layout;
    this.root.style.aspectRatio = `1 / ${layout.aspect}`;
    this.root.style.setProperty("--aspect", layout.aspect);
    this.boxes = layout.keys.map((key) => {
      const box = make("div", { class: "key" }, make("span", { text: key.letter }));
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

  // The letter whose key is nearest, counted in keys.
  letterAt(x, y) {
    const far = (key) => Math.hypot((x - key.cx) / key.rx, (y - key.cy) / key.ry);
    return this.layout.keys.reduce((best, key) => (far(key) < far(best) ? key : best)).letter;
  }

  #down(event) {
    if (this.points || !event.isPrimary || event.button > 0 || !this.layout) return;
    if (this.on.allows && !this.on.allows(event.pointerType)) return;
    event.preventDefault();
    this.root.setPointerCapture(event.pointerId);
    this.pointer = event.pointerId;
    this.rect = this.root.getBoundingClientRect();
    this.origin = event.timeStamp;
    this.points = [];
    this.trail = [];
    this.#push(event);
    this.#press(this.points[0]);
    this.on.start?.();
    this.#draw();
  }

  #move(event) {
    if (!this.points || event.pointerId !== this.pointer) return;
    // The browser bundles what came between two frames; the encoder wants all of it.
    const bundle = event.getCoalescedEvents?.() ?? [];
    for (const one of bundle.length ? bundle : [event]) this.#push(one);
    this.on.move?.(this.points);
    this.#draw();
  }

  #up(event) {
    if (!this.points || event.pointerId !== this.pointer) return;
    this.#push(event);
    const points = this.points;
    this.#finish();
    this.on.end?.(points, { tap: this.#isTap(points), pointer: event.pointerType || "mouse" });
  }

  #cancel(event) {
    if (!this.points || event.pointerId !== this.pointer) return;
    this.#finish();
    this.on.cancel?.();
  }

  #finish() {
    this.points = null;
    this.ended = performance.now();
    for (const box of this.boxes) box.classList.remove("down");
    this.#draw();
  }

  #push(event) {
    const x = (event.clientX - this.rect.left) / this.rect.width;
    const y = (event.clientY - this.rect.top) / this.rect.height;
    const last = this.points.at(-1);
    const t = Math.max(event.timeStamp - this.origin, last?.[2] ?? 0);
    if (last && last[0] === x && last[1] === y && last[2] === t) return;
    const round = (value, unit) => Math.round(value * unit) / unit;
    this.points.push([round(x, 1e5), round(y, 1e5), round(t, 10)]);
    this.trail.push([x, y]);
    if (this.points.length > MAX_POINTS) this.points = this.points.filter((_, i) => i % 2 === 0);
  }

  #isTap(points) {
    const key = this.layout.keys.find((one) => one.letter === this.letterAt(points[0][0], points[0][1]));
    const far = ([x, y]) => Math.hypot((x - points[0][0]) / key.rx / 2, (y - points[0][1]) / key.ry / 2);
    return points.every((point) => far(point) < TAP);
  }

  #press([x, y]) {
    const letter = this.letterAt(x, y);
    this.layout.keys.forEach((key, i) => this.boxes[i].classList.toggle("down", key.letter === letter));
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
      const left = this.points ? 1 : 1 - (performance.now() - this.ended) / LINGER;
      const context = this.canvas.getContext("2d");
      context.clearRect(0, 0, this.canvas.width, this.canvas.height);
      if (left <= 0) return;
      drawTrail(context, this.trail, left);
      if (!this.points) this.#draw();
    });
  }
}

// Draws points of the unit square over a whole canvas, from teal to pink.
export function drawTrail(context, trail, alpha = 1, width = 0.016) {
  const { width: w, height: h } = context.canvas;
  context.lineCap = context.lineJoin = "round";
  context.globalAlpha = alpha;
  context.lineWidth = Math.max(w * width, 2);
  for (let i = 1; i < trail.length; i += 1) {
    context.strokeStyle = colourAt(i / Math.max(trail.length - 1, 24));
    context.beginPath();
    context.moveTo(trail[i - 1][0] * w, trail[i - 1][1] * h);
    context.lineTo(trail[i][0] * w, trail[i][1] * h);
    context.stroke();
  }
  if (trail.length) {
    context.fillStyle = colourAt(0);
    context.beginPath();
    context.arc(trail[0][0] * w, trail[0][1] * h, context.lineWidth * 0.8, 0, 7);
    context.fill();
  }
  context.globalAlpha = 1;
}

export function colourAt(share) {
  const at = Math.min(share, 1) * (COLOURS.length - 1);
  const low = Math.min(Math.floor(at), COLOURS.length - 2);
  const mix = COLOURS[low].map((value, i) => Math.round(value + (COLOURS[low + 1][i] - value) * (at - low)));
  return `rgb(${mix.join(" ")})`;
}
