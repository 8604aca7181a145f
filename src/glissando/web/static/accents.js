// The letters that come up over a key that is held: slide to one and lift, or lift at once for the first.

import { make } from "./page.js";

export class Accents {
  // root: an empty element that lies over the keyboard.
  constructor(root) {
    this.root = root;
    this.letters = [];
    this.chosen = 0;
  }

  // Shows letters over a key's box; says whether there was anything to show.
  open(letters, box) {
    if (!letters.length) return false;
    [this.letters, this.chosen, this.key] = [letters, 0, box.getBoundingClientRect()];
    this.root.replaceChildren(...letters.map((letter) => make("span", { text: letter })));
    this.root.hidden = false;
    const [own, page] = [this.root.getBoundingClientRect(), document.documentElement.clientWidth];
    const left = Math.min(Math.max(this.key.left, 4), page - own.width - 4);
    Object.assign(this.root.style, { left: `${left}px`, top: `${Math.max(this.key.top - own.height - 4, 2)}px` });
    this.#mark();
    return true;
  }

  // The finger is at a point of the window. Returns whether it still chooses: far away it swipes on, and the letters go.
  steer(x, y) {
    const own = this.root.getBoundingClientRect();
    const { width, bottom } = this.key;
    if (x < own.left - width || x > own.right + width || y > bottom + width / 2 || y < own.top - width) {
      this.close();
      return false;
    }
    const boxes = [...this.root.children].map((one) => one.getBoundingClientRect());
    const away = (box) => Math.hypot(Math.max(box.left - x, 0, x - box.right), y < own.bottom ? Math.max(box.top - y, 0, y - box.bottom) : 0);
    this.chosen = boxes.reduce((best, box, i) => (away(box) < away(boxes[best]) ? i : best), 0);
    this.#mark();
    return true;
  }

  // Ends the choice and returns the letter.
  close() {
    this.root.hidden = true;
    return this.letters[this.chosen];
  }

  #mark() { [...this.root.children].forEach((one, i) => one.classList.toggle("chosen", i === this.chosen)); }
}
