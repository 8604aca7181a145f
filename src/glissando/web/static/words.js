// A person's own words, kept in this browser in the form of the library's vocabulary file. They are not sent anywhere.

import { recall, remember } from "./store.js";

const NAME = "vocabulary";
const VERSION = 1;
const MAX_WORDS = 10000; // these bounds are those of the library
const MAX_WORD = 48; // characters
const MAX_COUNT = 1e6;
const HALF_LIFE = 90; // days without use after which a count is halved
const MAX_BYTES = 8 << 20; // of a file

/** What a text lacks to be a word, in plain words; "" where it is one. */
export function problemWith(word) {
  if (!/\p{L}/u.test(word)) return "A word needs a letter.";
  if (/[\s\x1c-\x1f\x85]/u.test(word)) return "A word has no spaces.";
  if (/[\uD800-\uDFFF]/u.test(word)) return "A word has no damaged characters.";
  return [...word].length > MAX_WORD ? `A word has at most ${MAX_WORD} characters.` : "";
}

/** The words of a vocabulary file: {word: {count, used}}. An error says in plain words what is wrong with it. */
export function readVocabulary(text) {
  if (text.length > MAX_BYTES) throw new Error("The file is larger than 8 MB.");
  let data;
  try { data = JSON.parse(text); } catch { throw new Error("The file is not a list of words: it is not JSON, or it is damaged."); }
  if (!isObject(data) || !isObject(data.words)) throw new Error("The file is not a list of words.");
  if (data.version !== VERSION) throw new Error(`The list is of another version than ${VERSION}, which this page reads.`);
  const words = Object.create(null); // so that "constructor" is no word until it is learned
  for (const [word, entry] of Object.entries(data.words)) words[word.normalize("NFC")] = readEntry(word, entry);
  if (Object.keys(words).length > MAX_WORDS) throw new Error(`The list has more than ${MAX_WORDS.toLocaleString("en")} words.`);
  return words;
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function readEntry(word, entry) {
  const shown = `“${[...word].slice(0, 30).join("")}”`;
  const problem = problemWith(word.normalize("NFC"));
  if (problem) throw new Error(`The list has ${shown}. ${problem}`);
  const { count, used } = isObject(entry) ? entry : {};
  if (!Number.isFinite(count) || count <= 0) throw new Error(`The list does not say how often ${shown} was used.`);
  // A day that does not exist, such as 30 February, is not written as it was read.
  const day = typeof used === "string" && /^\d{4}-\d\d-\d\d$/u.test(used) ? new Date(`${used}T00:00:00Z`) : NaN;
  if (Number.isNaN(Number(day)) || day.toISOString().slice(0, 10) !== used || used < "0001") throw new Error(`The list does not say on what day ${shown} was used.`);
  return { count: Math.min(count, MAX_COUNT), used };
}

export class Words {
  // changed(json): called after a change, for whatever decodes with these words.
  constructor(changed = () => {}) {
    this.changed = changed;
    this.words = stored();
  }

  has(word) { return word.normalize("NFC") in this.words; }

  // The library's vocabulary JSON.
  get json() { return { version: VERSION, words: { ...this.words } }; }

  // Adds a word or counts it up; says whether the browser could keep it.
  learn(word) {
    const plain = word.normalize("NFC");
    if (problemWith(plain)) return false;
    if (!this.has(plain) && Object.keys(this.words).length >= MAX_WORDS) return false;
    const today = new Date().toISOString().slice(0, 10);
    const { count: before, used } = this.words[plain] ?? { count: 0, used: today };
    const days = Math.max((Date.parse(today) - Date.parse(used)) / 86_400_000, 0); // a clock may have been set back
    const count = Math.min(before * 2 ** (-days / HALF_LIFE) + 1, MAX_COUNT);
    return this.#keep({ ...this.words, [plain]: { count, used: used > today ? used : today } });
  }

  forget(word) {
    const rest = { ...this.words };
    delete rest[word.normalize("NFC")];
    return this.#keep(rest);
  }

  /**
   * Adds words with their uses, {word: {count, used}}. Of a word that is there already the higher count and the later day
   * stay, so that a list which is added twice changes nothing.
   * @returns {{added: number, kept: boolean}} how many are new, and whether the browser could keep them
   */
  add(words) {
    const all = Object.assign(Object.create(null), this.words);
    for (const [word, { count, used }] of Object.entries(words)) {
      const old = all[word];
      all[word] = old ? { count: Math.max(count, old.count), used: used > old.used ? used : old.used } : { count, used };
    }
    const [before, after] = [this.words, all].map((one) => Object.keys(one).length);
    if (after > MAX_WORDS) throw new Error(`That would make ${after.toLocaleString("en")} words; ${MAX_WORDS.toLocaleString("en")} is the most.`);
    return { added: after - before, kept: this.#keep(all) };
  }

  #keep(words) {
    this.words = Object.assign(Object.create(null), words);
    const kept = remember(NAME, JSON.stringify(this.json));
    this.changed(this.json);
    return kept;
  }
}

// What is damaged is put aside, not overwritten.
function stored() {
  const text = recall(NAME);
  if (text === null) return Object.create(null);
  try { return readVocabulary(text); } catch {
    remember(`${NAME}:damaged`, text);
    return Object.create(null);
  }
}
