// What the donor has given towards the goal, and how well it was read: the reward at its end.

import { getValue, put, remove } from "./collect-keep.js";
import { wordsPerMinute } from "./measure.js";

export const GOAL = 20; // sentences; about four minutes
const NAME = "round";
const PAUSE = 10000; // ms: who takes longer for a word was doing something else

export class Round {
  constructor() {
    const kept = getValue(NAME);
    this.sentences = Array.isArray(kept?.sentences) ? kept.sentences : [];
    this.words = kept?.words ?? {}; // by sentence and index: {right, characters, milliseconds}
  }

  /** Notes a word that was swiped. right: whether it was read as asked; null while it is not known. */
  word(id, index, { right, characters, milliseconds }) {
    this.words[`${id}:${index}`] = { right, characters, milliseconds: Math.min(milliseconds, PAUSE) };
    this.#save();
  }

  /** Notes that a word was read. */
  reading(id, index, right) {
    const one = this.words[`${id}:${index}`];
    if (!one) return;
    one.right = right;
    this.#save();
  }

  sentence(id) {
    if (!this.sentences.includes(id)) this.sentences.push(id);
    this.#save();
  }

  /** {sentences, words, read, right, speed}; read: words of which it is known what was read; speed: words per minute. */
  get result() {
    const words = Object.values(this.words);
    const read = words.filter((one) => one.right !== null);
    const sum = (name) => words.reduce((total, one) => total + one[name], 0);
    return {
      sentences: this.sentences.length, words: words.length, read: read.length, right: read.filter((one) => one.right).length,
      speed: wordsPerMinute(sum("characters"), sum("milliseconds")),
    };
  }

  clear() {
    [this.sentences, this.words] = [[], {}];
    remove(NAME);
  }

  #save() { put(NAME, JSON.stringify({ sentences: this.sentences, words: this.words })); }
}
