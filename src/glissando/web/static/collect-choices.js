// What the donor chooses before swiping: a language, and a layout that can type its sentences.

import { getValue, put } from "./collect-keep.js";
import { $, RESEARCH, languageName, layoutName, make } from "./page.js";

const USUAL = { en: "qwerty", ru: "jcuken", es: "spanish", de: "german", fr: "azerty" };
const NAME = "choice";
const OTHERS = 6; // layouts offered beside a message

export class Choices {
  constructor(root) {
    this.root = root;
    for (const [name, selector] of [["languages", "#language"], ["layouts", "#layout"], ["problem", "#problem"]]) this[name] = $(selector, root);
    this.languages.addEventListener("change", () => { this.#offer(this.language); this.#remember(); });
    this.layouts.addEventListener("change", () => this.#remember());
  }

  get language() { return this.languages.value; }
  get layout() { return this.layouts.value; }

  /**
   * Offers what a collection has.
   * @param {{languages: string[], layouts: Record<string, string[]>}} collection
   * @param {string[]} known all layouts of the server
   */
  fill(collection, known) {
    Object.assign(this, { able: collection.layouts, known });
    this.languages.replaceChildren(...collection.languages.map((code) => make("option", { value: code, text: ownName(code) })));
    const { language, layout } = wanted(collection.languages);
    this.languages.value = language;
    this.#offer(language, layout);
  }

  /** Says that the chosen layout will not do, and offers others. */
  refuse(text) { this.#say(text, [...this.layouts.options].map((one) => one.value).filter((name) => name !== this.layout)); }

  // Only layouts that can type sentences of the language can be chosen. asked: one that somebody has asked for.
  #offer(language, asked = null) {
    const able = this.able[language] ?? [];
    const names = able.filter((name) => !RESEARCH.has(name) || name === asked);
    this.layouts.replaceChildren(...names.map((name) => make("option", { value: name, text: layoutName(name) })));
    this.layouts.value = [asked, USUAL[language], names[0]].find((name) => names.includes(name)) ?? "";
    const unable = asked && !able.includes(asked) && this.known.includes(asked);
    this.#say(unable ? `${layoutName(asked)} can type no sentence in ${languageName(language)} here. Keyboards that can:` : "", names);
  }

  #say(text, names = []) {
    const choose = (name) => { this.layouts.value = name; this.#remember(); };
    const buttons = names.slice(0, OTHERS).map((name) => make("button", { class: "button", type: "button", text: layoutName(name), onclick: () => choose(name) }));
    this.problem.hidden = !text;
    this.problem.replaceChildren(...(text ? [make("p", { text }), ...buttons] : []));
  }

  #remember() {
    put(NAME, JSON.stringify({ language: this.language, layout: this.layout }));
    this.#say("");
  }
}

// The language and the layout of the last time, else of the address, else of the browser.
function wanted(languages) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const kept = getValue(NAME) ?? {};
  const own = navigator.languages.map((tag) => tag.split("-")[0]);
  const language = [asked.get("language"), kept.language, ...own, "en"].find((code) => languages.includes(code)) ?? languages[0];
  return { language, layout: asked.get("layout") ?? (kept.language === language ? kept.layout : null) };
}

// A language in its own words, and in the page's.
function ownName(code) {
  let own = code;
  try { own = new Intl.DisplayNames([code], { type: "language" }).of(code); } catch { /* a code that browsers do not know */ }
  const name = languageName(code);
  return own.toLowerCase() === name.toLowerCase() ? name : `${own} (${name})`;
}

/** Shows the text that donors agree to. */
export function showTerms(root, consent) {
  const terms = [["Who collects", "operator"], ["Contact", "contact"], ["What for", "purpose"], ["Licence", "licence"], ["How long", "kept"]];
  $("#terms", root).replaceChildren(...terms.flatMap(([label, name]) => [make("dt", { text: label }), make("dd", { text: consent[name] })]));
  $("#stored", root).replaceChildren(...consent.stored.map((text) => make("li", { text })));
  const texts = { "not-stored": "not_stored", withdrawal: "withdrawal", published: "published", version: "version" };
  for (const [id, name] of Object.entries(texts)) $(`#${id}`, root).textContent = consent[name];
}
