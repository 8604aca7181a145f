// The first visit: a ghost finger swipes a word, then a sentence is written, with speed and accuracy at its end.
//
// It watches the text and never holds anything up: whatever is written, tapped or deleted meanwhile is written as always.

import { HOLE } from "./draft.js";
import { Ghost } from "./ghost.js";
import { typedKeys } from "./languages.js";
import { sameWord, wordsPerMinute } from "./measure.js";
import { make } from "./page.js";
import { greetingOf, sentencesOf } from "./phrases.js";
import { recall, remember } from "./store.js";

const WORD = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu;
const wordsIn = (text) => text.replaceAll(HOLE, " x ").match(WORD) ?? [];

export class Visit {
  /**
   * @param {HTMLElement} root the card over the text
   * @param {HTMLElement} pad the letter area
   * @param {import("./draft.js").Draft} draft
   * @param {() => {layout: object, language: string}} keyboard the keyboard in use
   */
  constructor(root, pad, draft, keyboard) {
    Object.assign(this, { root, draft, keyboard });
    this.ghost = new Ghost(pad);
    this.stage = ""; // "ghost", "sentence", "result", or nothing
  }

  /** Shows itself to somebody who is new. Where that cannot be remembered it stays away: it would come again and again. */
  welcome() { if (!recall("visited") && remember("visited", "1")) this.begin(); }

  /** Shows the ghost finger, whether or not it was seen before. */
  begin() {
    const { layout, language } = this.keyboard();
    const code = language.split(",")[0];
    const all = sentencesOf(code).map((sentence) => sentence.split(" ")).filter((words) => words.every((word) => typedKeys(word, layout)));
    this.sentence = all[Math.floor(Math.random() * all.length)] ?? null;
    const word = (this.sentence?.[0] ?? greetingOf(code)).toLowerCase();
    const keys = word && typedKeys(word, layout);
    Object.assign(this, { stage: "ghost", layout, language });
    const shown = keys ? make("strong", { class: "visit-word", lang: code, "aria-label": word }, ...[...word].map((letter) => make("span", { text: letter }))) : null;
    this.#card(keys ? "Slide like this, then lift" : "Slide over the letters of a word, then lift", [shown],
      [["Skip", () => this.end()], ...(this.sentence ? [["Now you", () => this.#ask()]] : [])]);
    const mark = (reached) => [...shown.children].forEach((letter, i) => letter.classList.toggle("reached", i <= reached));
    if (keys) this.ghost.show(keys, keys.length === shown.children.length ? mark : undefined);
    else this.ghost.hide();
  }

  end() {
    this.stage = "";
    this.ghost.hide();
    this.root.hidden = true;
    this.root.replaceChildren();
  }

  /** A finger has come down on the keys. */
  touched() {
    if (this.stage === "ghost" && this.sentence) this.#ask();
    else if (this.stage === "ghost") this.end();
    if (this.stage === "sentence") this.began ??= performance.now();
  }

  /** The text has changed. */
  changed() {
    if (this.stage !== "sentence") return;
    if (this.draft.state.text !== this.from) this.began ??= performance.now(); // a hardware keyboard
    this.#look();
    this.#mark();
    const last = this.sentence.length - 1;
    if (this.right[last] !== undefined || (this.#written > last && !/[\p{L}\p{M}\p{N}\uFFFC]$/u.test(this.#left))) this.#result();
  }

  /** Another layout or language: what was shown does not fit any more. */
  keyboardChanged() {
    const { layout, language } = this.keyboard();
    if (this.stage && this.stage !== "result" && (layout !== this.layout || language !== this.language)) this.begin();
  }

  get #left() { return this.draft.state.text.slice(0, this.draft.cursor); }
  get #written() { return wordsIn(this.#left).length - this.base; } // words of the sentence

  #ask() {
    this.ghost.hide();
    Object.assign(this, { stage: "sentence", base: wordsIn(this.#left).length, right: [], began: undefined, lifted: 0, from: this.draft.state.text });
    this.seen = new Set(this.draft.words.map((one) => one.id));
    this.words = this.sentence.map((text) => make("span", { text }));
    this.#card("Write this; spaces come by themselves", [make("p", { class: "visit-sentence", lang: this.language.split(",")[0] }, ...this.words.flatMap((word) => [word, " "]))],
      [["Skip", () => this.end()]]);
    this.#mark();
  }

  // Notes when each swipe was made, and whether its first reading was the word that was asked for at its place.
  #look() {
    const { text, words } = this.draft.state;
    this.base = Math.min(this.base, wordsIn(text).length); // what was there before may have been deleted
    for (const one of words) {
      const place = wordsIn(text.slice(0, one.start)).length - this.base;
      if (place < 0 || place >= this.sentence.length) continue;
      if (!this.seen.has(one.id)) {
        this.seen.add(one.id);
        this.lifted = performance.now();
      }
      if (one.status === "read") this.right[place] ??= sameWord(one.candidates[0].word, this.sentence[place]);
    }
  }

  #mark() {
    const next = this.#written;
    this.words.forEach((word, i) => {
      word.className = i === next ? "now" : this.right[i] === undefined ? "" : this.right[i] ? "right" : "wrong";
      if (i === next) word.setAttribute("aria-current", "true");
      else word.removeAttribute("aria-current");
    });
  }

  #result() {
    this.stage = "result";
    const written = wordsIn(this.draft.text).slice(this.base);
    const right = this.sentence.filter((word, i) => this.right[i] ?? sameWord(written[i] ?? "", word)).length;
    const speed = wordsPerMinute(this.sentence.join(" ").length, (this.lifted || performance.now()) - this.began);
    const count = this.sentence.length;
    this.#card("Your sentence", [make("p", { role: "status" }, make("strong", { text: `${speed} words per minute` }), ", ",
      make("strong", { text: `${right} of ${count} words` }), " right at once."),
      right < count ? make("p", { class: "small muted", text: "Touch a wrong word in the text, and choose another one over the keys." }) : null],
      this.from ? [["Done", () => this.end()]] : [["Keep it", () => this.end()], ["Clear it", () => { this.end(); this.draft.clear(); }]]);
  }

  #card(title, content, buttons) {
    this.root.dataset.stage = this.stage;
    const box = make("div", { class: "visit-buttons" }, ...buttons.map(([text, click], i) => make("button", {
      class: i === buttons.length - 1 && text !== "Skip" ? "button primary" : "button", type: "button", text, onclick: click,
    })));
    this.root.replaceChildren(make("h2", { text: title }), ...content.filter(Boolean), box);
    this.root.hidden = false;
  }
}
