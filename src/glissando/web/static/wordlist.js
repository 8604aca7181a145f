// The list of a person's own words: see, search, add and forget them, and carry them to another device as a file.

import { closes } from "./dialogs.js";
import { $, make } from "./page.js";
import { problemWith, readVocabulary } from "./words.js";

const SHOWN = 200; // words at a time; a search finds the others
const FILE = "glissando-words.json";

export class WordList {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {import("./words.js").Words} words
   * @param {() => void} changed called when the dialog closes
   */
  constructor(dialog, words, changed) {
    Object.assign(this, { dialog: closes(dialog), words });
    this.search = $("#words-search", dialog);
    this.list = $("#words-list", dialog);
    dialog.addEventListener("close", changed);
    $("#words-form", dialog).addEventListener("submit", (event) => { event.preventDefault(); this.#add(); });
    this.search.addEventListener("input", () => { this.#say(""); this.#draw(); });
    this.list.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) this.#forget(button.dataset.word);
    });
    $("#words-export", dialog).addEventListener("click", () => this.#export());
    $("#words-import", dialog).addEventListener("click", () => $("#words-file", dialog).click());
    $("#words-file", dialog).addEventListener("change", ({ target }) => this.#import(target));
  }

  open() {
    this.search.value = "";
    this.#say("");
    this.#draw();
    this.dialog.showModal();
  }

  #draw() {
    const all = Object.keys(this.words.words);
    const wanted = this.search.value.trim().normalize("NFC");
    const found = all.filter((word) => word.toLowerCase().includes(wanted.toLowerCase())).sort((a, b) => a.localeCompare(b));
    this.list.replaceChildren(...found.slice(0, SHOWN).map((word) => this.#row(word)));
    const more = found.length - SHOWN;
    $("#words-more", this.dialog).textContent = more > 0 ? `And ${more.toLocaleString("en")} more. Search to see them.`
      : all.length ? (found.length ? "" : "None of your words has these letters.")
        : "You have no words of your own yet. Add a name or a word that the dictionary lacks.";
    $("#words-add", this.dialog).disabled = !wanted || Boolean(problemWith(wanted)) || this.words.has(wanted);
    $("#words-export", this.dialog).disabled = !all.length;
  }

  #row(word) {
    const count = Math.max(1, Math.round(this.words.words[word].count));
    return make("li", {}, make("span", { text: word }), make("small", { class: "muted", text: count > 1 ? `${count.toLocaleString("en")} times` : "" }),
      make("button", { class: "button quiet", type: "button", "data-word": word, "aria-label": `Forget ${word}`, text: "Forget" }));
  }

  #add() {
    const word = this.search.value.trim();
    const problem = problemWith(word.normalize("NFC"));
    if (problem || this.words.has(word)) { this.#say(problem || `“${word}” is one of your words already.`); return; }
    this.search.value = "";
    this.#say(this.words.learn(word) ? `“${word}” is one of your words now.` : `This browser has no room to keep “${word}”.`);
    this.#draw();
  }

  #forget(word) {
    const entry = this.words.words[word];
    const place = [...this.list.children].findIndex((row) => $("button", row).dataset.word === word);
    this.words.forget(word);
    this.#draw();
    (this.list.children[Math.min(place, this.list.children.length - 1)]?.querySelector("button") ?? this.search).focus();
    this.#say(`“${word}” is forgotten.`, make("button", { class: "button quiet", type: "button", text: "Undo", onclick: () => {
      this.words.add({ [word]: entry });
      this.#draw();
      this.#say(`“${word}” is back.`);
      this.search.focus();
    } }));
  }

  #export() {
    const file = new Blob([JSON.stringify(this.words.json, null, 1)], { type: "application/json" });
    const link = make("a", { href: URL.createObjectURL(file), download: FILE });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000); // the browser may still be reading it
    this.#say(`Your words are in the file ${FILE}.`);
  }

  async #import(field) {
    const [file] = field.files;
    if (!file) return;
    try {
      const { added, kept } = this.words.add(readVocabulary(await text(file)));
      const many = added === 1 ? "1 new word is" : `${added ? added.toLocaleString("en") : "No"} new words are`;
      this.#say(`${many} in your list now.${kept ? "" : " This browser has no room to keep them: they last until the page is closed."}`);
    } catch (error) { this.#say(`Nothing was changed. ${error.message}`); }
    field.value = ""; // so that the same file can be chosen again
    this.#draw();
  }

  #say(text, ...more) { $("#words-said", this.dialog).replaceChildren(text, ...more); }
}

async function text(file) {
  if (file.size > 8 << 20) throw new Error("The file is larger than 8 MB.");
  try { return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()); } catch { throw new Error("The file cannot be read as text."); }
}
