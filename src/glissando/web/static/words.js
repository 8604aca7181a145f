// A person's own words, kept in this browser in the form of the library's vocabulary file. They are not sent anywhere.

import { recall, remember } from "./store.js";

const NAME = "vocabulary";
const MAX_WORDS = 10000; // as in the library

export class Words {
  // changed(json): called after a change, for whatever decodes with these words.
  constructor(changed = () => {}) {
    this.changed = changed;
    this.words = read();
  }

  has(word) { return word.normalize("NFC") in this.words; }

  // The library's vocabulary JSON.
  get json() { return { version: 1, words: { ...this.words } }; }

  // Adds a word or counts it up; says whether the browser could keep it.
  learn(word) {
    const plain = word.normalize("NFC");
    if (!/\p{L}/u.test(plain) || /\s/u.test(plain) || [...plain].length > 48) return false;
    const count = (this.words[plain]?.count ?? 0) + 1;
    if (count === 1 && Object.keys(this.words).length >= MAX_WORDS) return false;
    return this.#keep({ ...this.words, [plain]: { count, used: new Date().toISOString().slice(0, 10) } });
  }

  forget(word) {
    const rest = { ...this.words };
    delete rest[word.normalize("NFC")];
    return this.#keep(rest);
  }

  #keep(words) {
    this.words = Object.assign(Object.create(null), words);
    const kept = remember(NAME, JSON.stringify(this.json));
    this.changed(this.json);
    return kept;
  }
}

// What is damaged is put aside, not overwritten.
function read() {
  const words = Object.create(null); // so that "constructor" is no word until it is learned
  const text = recall(NAME);
  if (text === null) return words;
  try {
    const data = JSON.parse(text);
    if (data.version !== 1 || typeof data.words !== "object") throw new Error("version");
    return Object.assign(words, data.words);
  } catch {
    remember(`${NAME}:damaged`, text);
    return words;
  }
}
