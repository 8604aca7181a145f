// The panels below the text, folded away until asked for: what the network saw, and why a word was not first.

import { explain } from "./decoder.js";
import { showSeen, showWhy } from "./insight.js";
import { $, toast } from "./page.js";

export class Panels {
  // current(): the swiped word at the cursor, or nothing. own: {isOwn(word), learn(word)}, a person's own words.
  constructor(root, current, own) {
    Object.assign(this, { root, current, own });
    this.explained = new WeakMap(); // by the points of a swipe
    this.tabs = [...root.querySelectorAll("[role=tab]")];
    for (const tab of this.tabs) tab.addEventListener("click", () => this.#open(tab));
    $("[role=tablist]", root).addEventListener("keydown", (event) => this.#arrows(event));
    $("#why-form", root).addEventListener("submit", (event) => { event.preventDefault(); this.#why(); });
    root.addEventListener("toggle", () => this.show());
  }

  // The word at the cursor is another one.
  show() {
    const word = this.current();
    $("#why-answer").replaceChildren();
    $("#why-form button").disabled = !readable(word);
    if (this.root.open && readable(word)) this.#seen(word);
  }

  async #seen(word) {
    if (!this.explained.has(word.points)) {
      try { this.explained.set(word.points, await explain(word.points, word)); } catch { return; }
    }
    if (this.current()?.points === word.points) showSeen($("#seen"), this.explained.get(word.points), word.layout, word.points);
  }

  async #why() {
    const word = this.current();
    const meant = $("#why-word").value.trim();
    if (!readable(word) || !meant) return;
    try {
      const answer = await explain(word.points, word, meant);
      if (this.current()?.points === word.points) showWhy($("#why-answer"), answer, this.own);
    } catch (error) { toast(error.message); }
  }

  #open(tab) {
    for (const one of this.tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
      $(`#${one.getAttribute("aria-controls")}`).hidden = one !== tab;
    }
  }

  #arrows(event) {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.stopPropagation();
    const other = this.tabs.find((tab) => tab !== document.activeElement);
    other.focus();
    this.#open(other);
  }
}

const readable = (word) => word?.status === "read" && word.points; // a word of before a reload has none
