// The layout editor: rows typed as text, keys dragged or moved with the arrow keys.

import { $, make, toast } from "./page.js";
import { fromRows, toFragment, toRows } from "./layouts.js";

const STEP = 0.01; // of the letter area, per press of an arrow key
const clamp = (value, half) => Math.min(Math.max(value, half), 1 - half);

export class Editor {
  // use(layout): called with the layout that was made; language(): the language a link should carry.
  constructor(dialog, { use, language }) {
    this.dialog = dialog;
    this.language = language;
    this.board = $("#editor-board", dialog);
    this.rows = $("#editor-rows", dialog);
    this.name = $("#editor-name", dialog);
    this.rows.addEventListener("input", () => this.#fromRows());
    $("#editor-reset", dialog).addEventListener("click", () => this.#fromRows());
    $("#editor-cancel", dialog).addEventListener("click", () => dialog.close());
    $("#editor-link", dialog).addEventListener("click", () => this.#copyLink());
    $("#editor-use", dialog).addEventListener("click", () => {
      const layout = this.#made();
      if (!layout) return;
      dialog.close();
      use(layout);
    });
  }

  open(layout) {
    this.name.value = layout.custom ? layout.name : `my ${layout.name}`;
    this.rows.value = toRows(layout);
    this.layout = structuredClone(layout);
    this.#draw();
    this.dialog.showModal();
  }

  #fromRows() {
    try {
      this.layout = fromRows(this.name.value, this.rows.value);
      this.#say("");
    } catch (error) {
      this.layout = null;
      this.#say(error.message);
    }
    this.#draw();
  }

  #made() {
    if (!this.layout) return null;
    return { ...this.layout, custom: true, name: this.name.value.trim() || "mine" };
  }

  async #copyLink() {
    const layout = this.#made();
    if (!layout) return;
    const link = `${location.origin}/${toFragment(layout, this.language())}`;
    try {
      await navigator.clipboard.writeText(link);
      toast("Link copied.");
    } catch {
      this.#say(link); // no clipboard on plain HTTP: show it, to be copied by hand
    }
  }

  #say(text) { $("#editor-message", this.dialog).textContent = text; }

  #draw() {
    if (!this.layout) { this.board.replaceChildren(); return; }
    this.board.style.aspectRatio = `1 / ${this.layout.aspect}`;
    this.board.replaceChildren(...this.layout.keys.map((key) => this.#key(key)));
  }

  #key(key) {
    const element = make("button", { class: "key", type: "button", "aria-label": `Key ${key.letter}; arrow keys move it` }, make("span", { text: key.letter }));
    const place = () => Object.assign(element.style, {
      left: `${(key.cx - key.rx) * 100}%`, top: `${(key.cy - key.ry) * 100}%`, width: `${key.rx * 200}%`, height: `${key.ry * 200}%`,
    });
    const move = (cx, cy) => { key.cx = clamp(cx, key.rx); key.cy = clamp(cy, key.ry); place(); };
    let grip = null;
    element.addEventListener("pointerdown", (event) => {
      const box = this.board.getBoundingClientRect();
      grip = { box, x: event.clientX / box.width - key.cx, y: event.clientY / box.height - key.cy };
      element.setPointerCapture(event.pointerId);
      element.classList.add("down");
    });
    element.addEventListener("pointermove", (event) => {
      if (grip) move(event.clientX / grip.box.width - grip.x, event.clientY / grip.box.height - grip.y);
    });
    const drop = () => { grip = null; element.classList.remove("down"); };
    element.addEventListener("pointerup", drop);
    element.addEventListener("pointercancel", drop);
    element.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key];
      if (!step) return;
      event.preventDefault();
      move(key.cx + step[0], key.cy + step[1]);
    });
    place();
    return element;
  }
}
