// A person's own words: how often each was used, and when it was used last. Kept in memory, read from and written to JSON.

import { MAX_DEPTH, growTree } from "./grow.js";
import { roundHalfEven } from "./resample.js";
import { isWord } from "./typing.js";

const VERSION = 1; // of the file
const DAY = 86_400_000; // milliseconds

export class VocabularyError extends Error {}

/**
 * @typedef {object} Constants the bundle's "vocabulary"
 * @property {number} width hypotheses that the beam keeps among own words
 * @property {number} words that are kept
 * @property {number} longest characters of a word
 * @property {number} first byte of a word used once
 * @property {number} decade bytes for ten times the uses
 * @property {number} highest byte
 * @property {number} half_life days
 * @property {number} max_count
 */

/** @typedef {{count: number, day: number}} Use the uses of a word as of the day of the last, since 1970 */

/** @typedef {{tree: import("./tree.js").WordTree, words: string[], bytes: number[], spelled: number[][]}} Looked own words on a layout */

export class Vocabulary {
  /** @param {Constants} constants */
  constructor(constants) {
    this.constants = constants;
    /** @type {Map<string, Use>} */
    this.uses = new Map();
    this.changes = 0;
    /** @private @type {{name: string, found: Looked} | null} */
    this.kept = null;
  }

  /**
   * Reads what toJSON gives, which is the file that the Python side saves.
   * @param {any} data
   * @param {Constants} constants
   */
  static from(data, constants) {
    const vocabulary = new Vocabulary(constants);
    if (data?.version !== VERSION) throw new VocabularyError(`the vocabulary has version ${data?.version}; this reads ${VERSION}`);
    if (!isObject(data.words)) throw new VocabularyError("the vocabulary has no object of words");
    const entries = Object.entries(data.words);
    if (entries.length > constants.words) throw new VocabularyError(`the vocabulary has more than ${constants.words} words`);
    for (const [word, entry] of entries) {
      const [count, used, ...more] = isObject(entry) ? [entry.count, entry.used, ...Object.keys(entry).slice(2)] : [];
      if (more.length || !isDay(used)) throw new VocabularyError(`"${word}" must have a count and a day of last use, and nothing else`);
      vocabulary.learn(word, count, new Date(`${used}T00:00`)); // on the person's calendar
    }
    return vocabulary;
  }

  /** The JSON form; of times only the day is kept. */
  toJSON() {
    const entry = (/** @type {Use} */ { count, day }) => ({ count, used: new Date(day * DAY).toISOString().slice(0, 10) });
    return { version: VERSION, words: Object.fromEntries([...this.uses].map(([word, use]) => [word, entry(use)])) };
  }

  /**
   * Adds a word, or counts it up. Where there are as many as there may be, a new one takes the place of the weakest.
   * @param {string} word as it is written
   * @param {number} [count] how many uses this is
   * @param {Date} [today]
   */
  learn(word, count = 1, today = new Date()) {
    const { longest, max_count: most, words } = this.constants;
    const composed = String(word).normalize("NFC");
    if (!isWord(composed, longest)) {
      throw new VocabularyError(`"${composed.slice(0, 60)}" is not a word: it needs a letter, no white space and at most ${longest} characters`);
    }
    if (!(typeof count === "number" && count > 0 && count < Infinity)) throw new VocabularyError(`a word's count must be a number above 0, got ${count}`);
    const day = dayOf(today);
    const known = this.uses.get(composed);
    if (!known && this.uses.size >= words) this.uses.delete(this.#weakest());
    // A clock may have been set back.
    this.uses.set(composed, known
      ? { count: Math.min(10 ** this.#log(known, day) + count, most), day: Math.max(known.day, day) }
      : { count: Math.min(count, most), day });
    this.changes += 1;
  }

  /**
   * Removes a word.
   * @param {string} word
   * @returns {boolean} whether it was there
   */
  forget(word) {
    const there = this.uses.delete(String(word).normalize("NFC"));
    this.changes += there ? 1 : 0;
    return there;
  }

  /**
   * The words on a layout, looked up again only after a change, on another day or on another layout.
   * @param {string[]} letters
   * @param {import("./typing.js").Typing} typing
   * @param {Date} [today]
   * @returns {Looked}
   */
  lookUp(letters, typing, today = new Date()) {
    const name = `${this.changes} ${dayOf(today)} ${letters.join("")}`;
    if (this.kept?.name === name) return this.kept.found;
    const words = [...this.uses.keys()];
    const bytes = this.bytes(today);
    const spelled = words.map((word) => typing.word(word)).map((labels) => (labels.length <= MAX_DEPTH ? labels : []));
    const offsets = new Uint32Array(words.length + 1);
    spelled.forEach((labels, word) => { offsets[word + 1] = offsets[word] + labels.length; });
    const tree = growTree(letters, { labels: Uint8Array.from(spelled.flat()), offsets }, Uint8Array.from(bytes, roundHalfEven));
    this.kept = { name, found: { tree, words, bytes, spelled } };
    return this.kept.found;
  }

  /** How frequent each word is, on the scale of a lexicon's bytes. */
  bytes(today = new Date()) {
    const { first, decade, highest } = this.constants;
    return [...this.uses.values()].map((use) => Math.min(Math.max(first + decade * this.#log(use, dayOf(today)), 0), highest));
  }

  /**
   * The logarithm to base 10 of the faded count.
   * @param {Use} use
   * @param {number} today
   */
  #log({ count, day }, today) {
    return Math.log10(count) - (Math.log10(2) / this.constants.half_life) * Math.max(today - day, 0);
  }

  // All counts fade alike, so any day after the last use gives the same order.
  #weakest() {
    const last = [...this.uses.values()].reduce((most, { day }) => Math.max(most, day), -Infinity);
    const logs = [...this.uses].map(([word, use]) => ({ word, log: this.#log(use, last) }));
    return logs.reduce((least, one) => (one.log < least.log ? one : least)).word;
  }
}

/**
 * The day on the person's calendar, counted from 1970.
 * @param {Date} date
 */
function dayOf(date) {
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY;
}

/** @param {unknown} text */
function isDay(text) {
  return typeof text === "string" && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
