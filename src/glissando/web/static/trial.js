// Ten words on a layout and the same ten on QWERTY, with accuracy and speed side by side. Nothing of it enters the text.

import { closes } from "./dialogs.js";
import { typedKeys } from "./languages.js";
import { sameWord, wordsPerMinute } from "./measure.js";
import { Pad } from "./pad.js";
import { $, languageName, make, makeSvg, titleOf } from "./page.js";
import { wordsOf } from "./phrases.js";
import { layoutPicture } from "./picture.js";
import { recall, remember } from "./store.js";

const COUNT = 10; // words that count, on each layout

/**
 * The words to write, in order. Of two layouts the one begins with the first half of the words and the other with the second
 * half, so that none has the advantage of known words. Each layout has one word to warm up.
 * @param {object[]} layouts one or two
 * @param {string[]} words the first is for warming up, ten follow
 * @returns {{layout: object, word: string, counts: boolean}[]}
 */
export function plan([first, second], [warmUp, ...words]) {
  const half = words.length / 2;
  const block = (layout, some, warming) => [...(warming ? [{ layout, word: warmUp, counts: false }] : []), ...some.map((word) => ({ layout, word, counts: true }))];
  if (!second) return block(first, words, true);
  return [...block(first, words.slice(0, half), true), ...block(second, words, true), ...block(first, words.slice(half), false)];
}

export class Trial {
  // decode, warm: see decoder.js.
  constructor(dialog, { decode, warm }) {
    Object.assign(this, { dialog: closes(dialog, { beside: false }), decode, warm });
    this.body = $("#trial-body", dialog);
    this.buttons = $(".dialog-buttons", dialog);
    this.pad = new Pad($("#trial-pad", dialog), { end: (points, { tap }) => this.#swiped(points, tap) });
    dialog.addEventListener("close", () => this.#stop());
  }

  /** Asks whether to begin. qwerty: the layout to compare with. */
  open({ layout, language }, qwerty) {
    this.before = [layout, language];
    const code = language.split(",")[0];
    const other = layout.name !== qwerty.name || layout.custom ? qwerty : null;
    const typed = wordsOf(code).filter((word) => typedKeys(word, layout));
    const both = other ? typed.filter((word) => typedKeys(word, other)) : [];
    this.layouts = both.length > COUNT ? [layout, other] : [layout];
    this.words = both.length > COUNT ? both : typed;
    this.language = code;
    const names = this.layouts.map(titleOf);
    const alone = other ? `QWERTY cannot type ${languageName(code)}, so there is nothing to compare with.` : "Choose another layout to compare it with QWERTY.";
    const enough = this.words.length > COUNT;
    this.#show([make("p", { text: !enough ? `There are no words to practise ${languageName(code)} on this layout.`
      : this.layouts.length > 1 ? `Swipe ten words on ${names[0]} and the same ten on ${names[1]}, and see how fast and how well it goes. It takes about two minutes.`
        : `Swipe ten words on ${names[0]}, and see how fast and how well it goes. ${alone}` }),
      enough ? make("p", { class: "small muted", text: "The time runs while a word is shown. Nothing of it enters your text." }) : null],
      [["Cancel"], ...(enough ? [["Begin", () => this.#begin()]] : [])]);
    this.dialog.showModal();
  }

  async #begin() {
    const qwertyFirst = this.layouts.length > 1 && recall("trial") === "qwerty";
    remember("trial", qwertyFirst ? "layout" : "qwerty"); // the next time the other one begins
    const words = shuffled(this.words).slice(0, COUNT + 1);
    Object.assign(this, { steps: plan(qwertyFirst ? [...this.layouts].reverse() : this.layouts, words), at: 0, shown: null, results: [] });
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.#show([make("p", { text: "Getting ready …" })], [["Cancel"]]);
    try { await Promise.all(this.layouts.map((layout) => this.warm(layout, this.language))); } catch (error) {
      if (!signal.aborted) this.#show([make("p", { text: error.message })], [["Cancel"], ["Try again", () => this.#begin()]]);
      return;
    }
    if (!signal.aborted) this.#next();
  }

  #next() {
    const step = this.steps[this.at];
    if (!step) this.#result();
    else if (step.layout !== this.shown) this.#pause(step.layout);
    else this.#ask(step);
  }

  // Another keyboard comes; the time stands still.
  #pause(layout) {
    this.shown = layout;
    this.#show([make("p", { class: "trial-word", text: titleOf(layout) }), make("p", { class: "muted", text: this.steps[this.at].counts ? "The same keyboard as at the beginning." : "The first word is to warm up." })],
      [["Cancel"], ["Go", () => this.#next()]], layout);
  }

  #ask({ word, counts, layout }, message = "") {
    const done = this.results.length;
    const total = this.steps.filter((step) => step.counts).length;
    this.#show([make("p", { class: "trial-word", text: word, lang: this.language, role: "status" }),
      make("p", { class: "small muted", text: message || (counts ? `${titleOf(layout)} · word ${done + 1} of ${total}` : `${titleOf(layout)} · to warm up`) })], [["Cancel"]], layout);
    this.shownAt = performance.now();
    this.waiting = true;
  }

  async #swiped(points, tap) {
    if (!this.waiting) return;
    const step = this.steps[this.at];
    if (tap) { $(".small", this.body).textContent = "Slide over all letters of the word, then lift."; return; }
    const milliseconds = performance.now() - this.shownAt;
    const { signal } = this.abort;
    this.waiting = false;
    try {
      const { candidates } = await this.decode(points, { layout: step.layout, language: this.language }, { signal });
      if (signal.aborted) return;
      if (step.counts) this.results.push({ ...step, milliseconds, right: sameWord(candidates[0]?.word ?? "", step.word) });
      this.at += 1;
      this.#next();
    } catch (error) { if (!signal.aborted) this.#ask(step, `${error.message} Swipe this word once more.`); }
  }

  #result() {
    const sums = this.layouts.map((layout) => {
      const own = this.results.filter((one) => one.layout === layout);
      const characters = own.reduce((sum, { word }) => sum + [...word].length + 1, 0);
      return { layout, own, right: own.filter((one) => one.right).length, speed: wordsPerMinute(characters, own.reduce((sum, one) => sum + one.milliseconds, 0)) };
    });
    const fastest = Math.max(...sums.map((one) => one.speed), 1);
    this.#show([make("div", { class: "trial-results", role: "status" }, ...sums.map((one) => resultCard(one, fastest))),
      make("p", { class: "small muted", text: "Ten words are few: two words more or less, or a few words per minute, may be chance. A layout that is new to you also gets faster with use." })],
      [["Again", () => this.#begin()], ["Done", () => this.dialog.close()]]);
  }

  // content, and buttons as [text, click]; "Cancel" closes. With a layout its keys are shown.
  #show(content, buttons, layout = null) {
    this.waiting = false;
    this.body.replaceChildren(...content.filter(Boolean));
    this.pad.root.hidden = !layout;
    if (layout && this.pad.layout !== layout) this.pad.setLayout(layout);
    this.buttons.replaceChildren(...buttons.map(([text, click], i) => make("button", {
      class: click && i === buttons.length - 1 ? "button primary" : "button", type: "button", text, "data-close": !click, onclick: click ?? (() => {}),
    })));
    $(".primary", this.buttons)?.focus();
  }

  #stop() {
    if (this.abort) this.warm(...this.before).catch(() => {}); // the page's own keyboard comes back
    this.abort?.abort();
    this.abort = null;
    this.waiting = false;
    this.body.replaceChildren();
  }
}

function resultCard({ layout, own, right, speed }, fastest) {
  const dots = own.map((one, i) => makeSvg("circle", { cx: 10 + 20 * i, cy: 10, r: 7, class: one.right ? "right" : "wrong" }));
  const bar = [makeSvg("rect", { x: 0, y: 26, width: 200, height: 12, rx: 6, class: "whole" }), makeSvg("rect", { x: 0, y: 26, width: Math.max(12, (200 * speed) / fastest), height: 12, rx: 6, class: "part" })];
  return make("figure", {}, make("figcaption", { text: titleOf(layout) }), layoutPicture(layout),
    make("p", {}, make("strong", { text: `${right} of ${own.length}` }), " words right"), make("p", {}, make("strong", { text: String(speed) }), " words per minute"),
    makeSvg("svg", { viewBox: "0 0 200 40", class: "trial-picture", "aria-hidden": "true" }, ...dots, ...bar));
}

function shuffled(words) {
  const rest = [...words];
  for (let i = rest.length - 1; i > 0; i -= 1) {
    const j = Math.floor(Math.random() * (i + 1));
    [rest[i], rest[j]] = [rest[j], rest[i]];
  }
  return rest;
}
