// The line of text: words that were swiped, each with its candidates, letters that were tapped, and marks after words.

import { make } from "./page.js";

const ENDS = /[.!?…:;]+(?=[\s"'”’»)]|$)|[。！？\n\r]+/u; // of a sentence
const FIRST_PERSON = new Set(["i", "i'm", "i'll", "i'd", "i've"]); // in English

// A word as it is written after a text: with a capital where a sentence begins. The library's draft.capitalise.
export function capitalise(word, text, language) {
  const begins = !/[\p{L}\p{N}]/u.test(text.split(ENDS).at(-1));
  const lower = word === word.toLowerCase() && word !== word.toUpperCase();
  if (!(begins && lower) && !(language === "en" && FIRST_PERSON.has(word))) return word;
  const [first, ...rest] = word;
  return first.toUpperCase() + rest.join("");
}

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
  get text() { return this.words.map((word) => word.text + (word.mark ?? "")).join(" "); }

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

  // Writes a mark after the last word, in place of the one that is there.
  addMark(mark) {
    const last = this.words.at(-1);
    if (last) last.mark = mark;
    this.space();
  }

  // A mark goes first; then a tapped word loses a letter, and a swiped one goes whole.
  backspace() {
    const last = this.words.at(-1);
    if (!last) return;
    if (last.mark) delete last.mark;
    else if (last.open && [...last.text].length > 1) last.text = [...last.text].slice(0, -1).join("");
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
    const words = this.words.flatMap((word, i) => {
      const button = make("button", { class: "word", type: "button", text: word.text, "aria-pressed": String(i === this.chosen), onclick: () => this.choose(i) });
      return [word.mark ? make("span", { class: "marked" }, button, word.mark) : button, " "];
    });
    const hint = make("span", { class: "muted", text: "Slide from letter to letter, or tap." });
    this.root.replaceChildren(...(words.length ? words : [hint]), make("span", { class: "caret", "aria-hidden": "true" }));
    this.root.scrollTop = this.root.scrollHeight;
  }
}
