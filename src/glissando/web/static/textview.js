// Shows a draft: its words, each a button that brings its candidates back, the holes of swipes on their way, and the cursor.

import { HOLE } from "./draft.js";
import { $, make } from "./page.js";
import { pressable } from "./press.js";

const LIT_MS = 1600;
const WORD = /[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*/gu;

export class TextView {
  // on: {place(offset), retry(id)}: the text was touched at an offset, or a failed swipe was.
  constructor(root, draft, on) {
    Object.assign(this, { root, draft, on });
    this.nodes = []; // [text node, its offset in the text]
    this.lit = new Set(); // the numbers of words that were changed just now
    pressable(root, { press: (event) => this.#press(event) }, { scrolls: true });
    root.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      if (!event.target.dataset?.start) return;
      event.preventDefault();
      event.stopPropagation();
      this.#choose(event.target);
    });
  }

  draw() {
    const { state } = this.draft;
    const focus = [...this.root.children].indexOf(document.activeElement);
    this.nodes = [];
    this.current = this.draft.current;
    const parts = pieces(state).map((piece) => this.#piece(piece));
    if (!state.text) parts.unshift(make("span", { class: "hint", text: "Slide from letter to letter, or tap." }));
    this.root.replaceChildren(...parts.flat());
    if (!$(".caret", this.root)) this.root.append(caret());
    if (focus >= 0) this.root.children[focus]?.focus();
    $(".caret", this.root).scrollIntoView({ block: "nearest" });
  }

  // Shows for a moment that words were changed.
  light(ids) {
    clearTimeout(this.fading);
    this.lit = new Set(ids);
    this.draw();
    this.fading = setTimeout(() => { this.lit.clear(); this.draw(); }, LIT_MS);
  }

  #piece({ start, end, word, text }) {
    if (!word && !text) return this.#characters(start, end);
    const element = make("span", { class: "word", role: "button", tabindex: "0", "data-start": start, "data-end": end });
    if (word && word.status !== "read") {
      const failed = word.status === "failed";
      Object.assign(element, { className: failed ? "pending failed" : "pending", title: failed ? "Not read yet. Tap to try again." : "" });
      element.setAttribute("aria-label", failed ? "A swipe that could not be read; try again" : "A swipe that is being read");
      element.dataset.id = word.id;
      element.append(make("i"), ...(this.draft.cursor === end ? [caret()] : []));
      return [element];
    }
    if (this.lit.has(word?.id)) element.classList.add("changed");
    element.setAttribute("aria-pressed", String(word ? word === this.current : start < this.draft.cursor && this.draft.cursor <= end));
    element.append(...this.#characters(start, end));
    return [element];
  }

  // Text nodes, with the cursor between them where it stands here. A cursor at an edge belongs to what comes before it.
  #characters(start, end) {
    const { text, cursor } = this.draft.state;
    const node = (from, to) => {
      const made = document.createTextNode(text.slice(from, to));
      this.nodes.push([made, from]);
      return made;
    };
    if (cursor === 0 && start === 0) return [caret(), node(start, end)];
    return cursor > start && cursor <= end ? [node(start, cursor), caret(), ...(cursor < end ? [node(cursor, end)] : [])] : [node(start, end)];
  }

  #press(event) {
    const piece = event.target.closest?.("[data-start]");
    if (event.detail === 0 && event.type === "click" && piece) this.#choose(piece);
    else if (piece?.classList.contains("failed")) this.on.retry(Number(piece.dataset.id));
    else this.on.place(this.#offsetAt(event.clientX, event.clientY));
  }

  #choose(piece) {
    if (piece.classList.contains("failed")) this.on.retry(Number(piece.dataset.id));
    else this.on.place(Number(piece.dataset.end));
  }

  // The offset between characters that is nearest to a point; the line counts first.
  #offsetAt(x, y) {
    let [best, least] = [this.draft.state.text.length, Infinity];
    const range = document.createRange();
    for (const [node, offset] of this.nodes) {
      for (let i = 0; i < node.length; i += 1) {
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        const box = range.getBoundingClientRect();
        const aside = 1e4 * Math.max(box.top - y, 0, y - box.bottom);
        for (const [edge, at] of [[box.left, i], [box.right, i + 1]]) {
          const far = aside + Math.abs(edge - x);
          if (far < least && !(at > i && node.data[i] === "\n")) [best, least] = [offset + at, far];
        }
      }
    }
    return best;
  }
}

const caret = () => make("span", { class: "caret", "aria-hidden": "true" });

// The text cut into swiped words, other words and what stands between them.
function pieces({ text, words }) {
  const found = [];
  const between = (from, to) => {
    let at = from;
    for (const match of text.slice(from, to).matchAll(WORD)) {
      const start = from + match.index;
      if (start > at) found.push({ start: at, end: start });
      found.push({ start, end: start + match[0].length, text: true });
      at = start + match[0].length;
    }
    if (to > at) found.push({ start: at, end: to });
  };
  let at = 0;
  for (const word of words) {
    between(at, word.start);
    found.push({ start: word.start, end: word.end, word });
    at = word.end;
  }
  between(at, text.length);
  return found.filter(({ start, end, word }) => word || text.slice(start, end) !== HOLE);
}
