// The layout editor: rows typed as text, keys dragged or moved with the arrow keys.

import { closes } from "./dialogs.js";
import { check, fromRows, linkTo, toRows } from "./layouts.js";
import { copy } from "./output.js";
import { $, make, titleOf, toast } from "./page.js";

const STEP = 0.01; // of the letter area, per press of an arrow key
const clamp = (value, half) => Math.min(Math.max(value, half), 1 - half);

export class Editor {
  // use(layout, older): called with the layout that was made, and the one that it replaces, or null.
  // language(): the language a link should carry.
  constructor(dialog, { use, language }) {
    this.dialog = closes(dialog, { beside: false });
    this.language = language;
    this.board = $("#editor-board", dialog);
    this.rows = $("#editor-rows", dialog);
    this.name = $("#editor-name", dialog);
    this.rows.addEventListener("input", () => this.#fromRows());
    $("#editor-reset", dialog).addEventListener("click", () => this.#fromRows());
    $("#editor-link", dialog).addEventListener("click", () => this.#copyLink());
    $("#editor-use", dialog).addEventListener("click", () => {
      const layout = this.#made();
      if (!layout) return;
      dialog.close();
      use(layout, this.older);
    });
  }

  // Begins with a layout; older: the one that is to be changed, or null for a new one.
  open(layout, older) {
    this.older = older;
    this.name.value = layout.custom ? layout.name : `my ${titleOf(layout)}`;
    this.#say("");
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

  // The layout, or null and a message where it cannot be used.
  #made() {
    if (!this.layout) return null;
    try {
      const made = check({ ...this.layout, custom: true, language: "", name: this.name.value });
      this.#say("");
      return made;
    } catch (error) {
      this.#say(error.message);
      return null;
    }
  }

  async #copyLink() {
    const layout = this.#made();
    if (!layout) return;
    const link = linkTo(layout, this.language());
    if (await copy(link)) toast("The link is copied.");
    else this.#say(link); // to be copied by hand
  }

  #say(text) { $("#editor-message", this.dialog).textContent = text; }

  #draw() {
    if (!this.layout) { this.board.replaceChildren(); return; }
    this.board.style.aspectRatio = `1 / ${this.layout.aspect}`;
    this.board.style.setProperty("--aspect", this.layout.aspect);
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
