// The line of text: words that were swiped, each with its candidates, and letters that were tapped.

import { make } from "./web/page.js";

export class TextLine {
  // select(index): called when a word is chosen to be changed.
  constructor(root, select) {
    this.root = root;
    this.select = select;
    this.words = [];
    this.chosen = -1;
    this.draw();
  }

  get current() { return this.words[this.chosen]; }
  get text() { return this.words.map((word) => word.text).join(" "); }

  addWord(word) {
    this.words.push(word);
    this.choose(this.words.length - 1);
  }

  addLetter(letter) {
    const last = this.words.at(-1);
    if (last?.open) last.text += letter;
    else this.words.push({ text: letter, open: true, candidates: [] });
    this.choose(this.words.length - 1);
  }

  space() {
    const last = this.words.at(-1);
    if (last) last.open = false;
    this.draw();
  }

  // A tapped word loses a letter, a swiped one goes whole.
  backspace() {
    const last = this.words.at(-1);
    if (!last) return;
    if (last.open && [...last.text].length > 1) last.text = [...last.text].slice(0, -1).join("");
    else this.words.pop();
    this.choose(this.words.length - 1);
  }

  replace(text) {
    if (this.current) this.current.text = text;
    this.draw();
  }

  clear() {
    this.words = [];
    this.choose(-1);
  }

  choose(index) {
    this.chosen = index;
    this.draw();
    this.select(index);
  }

  draw() {
    const words = this.words.flatMap((word, i) => [
      make("button", { class: "word", type: "button", text: word.text, "aria-pressed": String(i === this.chosen), onclick: () => this.choose(i) }), " ",
    ]);
    const hint = make("span", { class: "muted", text: "Slide from letter to letter, or tap." });
    this.root.replaceChildren(...(words.length ? words : [hint]), make("span", { class: "caret", "aria-hidden": "true" }));
    this.root.scrollTop = this.root.scrollHeight;
  }
}
