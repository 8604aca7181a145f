// Ranking constants that follow their person.
//
// The score of a finalist is a sum of terms. Divided by the temperature they are contributions in nats. A person has a
// factor for each term, which multiplies it. Every word that a person accepts is a label, and the factors are fitted to
// the last of them by a conditional logit (logit.js) with a prior at 1. Only contributions are kept, no points, no words.

import { fitWeights } from "./logit.js";
import { roundHalfEven } from "./resample.js";

/** The constants that weigh each term. Evidence has none: the temperature stands for it. @type {Record<string, string[]>} */
const WEIGHTS = {
  frequency: ["frequency_weight", "literal_bonus", "fluency_weight"], // a literal has the last two in its place
  length: ["length_bonus"],
  location: ["location_weight"],
  shape: ["shape_weight"],
  match: ["matcher_weight"],
};
const TERMS = ["evidence", ...Object.keys(WEIGHTS)];
const STEADY = ["context_weight", "none_bonus"]; // constants of terms that are not learned, whose factor is always 1
const FREE = ["evidence", "frequency"]; // people differ most in how far frequency counts against the evidence
const VERSION = 1; // of the file

export class HabitsError extends Error {}

/**
 * @typedef {object} Constants the kit's "habits"
 * @property {number} memory swipes kept
 * @property {number} finalists of each at the most
 * @property {number} penalty nats for a factor 1 away from 1, in the sum over the swipes
 * @property {number} stiffness times this for the terms that are not free
 * @property {number} lowest
 * @property {number} highest factors
 * @property {number} every swipes recorded between two fits
 * @property {number} limit nats; a greater contribution says no more
 */

/**
 * What each term adds to the logits of words; their sum is the score divided by the temperature.
 * @param {import("./dictionary.js").Spelling[]} spellings words, not literals
 * @param {number[] | null} matches of the matcher; null where it was not asked
 * @param {any} scoring what the swipe is ranked by: `scoring.matched` where the matcher was asked
 * @returns {number[][]} for each spelling a number for each term
 */
export function contributions(spellings, matches, scoring) {
  return spellings.map(({ logProb, labels, frequency, location, shape }, i) => [
    logProb / Math.max(labels.length, 1) ** scoring.length_exponent,
    scoring.frequency_weight * Math.max(frequency, scoring.frequency_floor),
    scoring.length_bonus * labels.length,
    -scoring.location_weight * location,
    -scoring.shape_weight * shape,
    matches ? scoring.matcher_weight * matches[i] : 0,
  ].map((term) => term / scoring.temperature));
}

/** What a person's last swipes say of the ranking constants. */
export class Habits {
  /** @type {number[][][]} for each swipe, for each finalist, its contributions less those of the word meant, which is the first */
  #swipes = [];
  #factors = TERMS.map(() => 1);
  #waiting = 0; // swipes recorded since the last fit
  /** @type {[any, any] | null} constants, and what the factors made of them */
  #applied = null;

  /** @param {Constants} constants */
  constructor(constants) {
    this.constants = constants;
  }

  /**
   * Reads what toJSON gives, which is the file that the Python side saves, and fits the factors.
   * @param {any} data
   * @param {Constants} constants
   * @returns {Habits}
   */
  static from(data, constants) {
    const habits = new Habits(constants);
    habits.#swipes = readSwipes(data, constants);
    habits.fit();
    return habits;
  }

  /** The JSON form. Terms are kept as half floats. */
  toJSON() {
    const bits = Uint16Array.from(this.#swipes.flat(2), toHalf);
    const bytes = Uint8Array.from({ length: 2 * bits.length }, (_, i) => (bits[i >> 1] >> (8 * (i % 2))) & 255);
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    return { version: VERSION, terms: TERMS, sizes: this.#swipes.map((swipe) => swipe.length), values: btoa(text) };
  }

  /** How many swipes are kept. */
  get size() {
    return this.#swipes.length;
  }

  /**
   * Keeps one swipe whose word is known; the oldest goes when there are too many.
   * @param {number[][]} terms contributions of its finalists by the packaged constants
   * @param {number} meant which of them is the word meant; a swipe with one finalist says nothing and is not kept
   */
  record(terms, meant) {
    const { finalists, limit, memory } = this.constants;
    if (!terms.every((row) => row.length === TERMS.length && row.every(Number.isFinite))) {
      throw new HabitsError(`a swipe's terms are finite numbers, ${TERMS.length} for each finalist (${TERMS.join(", ")})`);
    }
    if (!(meant >= 0 && meant < terms.length)) throw new HabitsError(`the finalist meant is one of ${terms.length}, got ${meant}`);
    if (terms.length < 2) return;
    const sums = terms.map((row) => row.reduce((sum, one) => sum + one, 0));
    const others = [...terms.keys()].sort((a, b) => sums[b] - sums[a]).filter((place) => place !== meant);
    const kept = [meant, ...others.slice(0, finalists - 1)];
    const less = (/** @type {number} */ value) => fromHalf(toHalf(Math.min(Math.max(value, -limit), limit)));
    this.#swipes.push(kept.map((place) => terms[place].map((value, term) => less(value - terms[meant][term]))));
    if (this.#swipes.length > memory) this.#swipes.shift();
    this.#waiting += 1;
  }

  /** The factor of each term, fitted again when enough swipes were recorded since the last fit. @returns {number[]} */
  get factors() {
    if (this.#waiting >= this.constants.every) this.fit();
    return [...this.#factors];
  }

  /** Fits the factors to all swipes that are kept. */
  fit() {
    const { penalty, stiffness, lowest, highest } = this.constants;
    const count = this.#swipes.length;
    const penalties = TERMS.map((term) => (FREE.includes(term) ? penalty : penalty * stiffness) / count); // of the mean cost
    const found = count ? fitWeights(this.#swipes, this.#factors, penalties) : TERMS.map(() => 1);
    this.#factors = found.map((factor) => Math.min(Math.max(factor, lowest), highest));
    this.#waiting = 0;
    this.#applied = null;
  }

  /**
   * The constants with this person's factors; while nothing is learned, the very same object.
   * @param {any} scoring
   * @returns {any}
   */
  apply(scoring) {
    const { factors } = this;
    if (this.#applied?.[0] !== scoring) {
      this.#applied = [scoring, factors.some((factor) => factor !== 1) ? scaled(scoring, factors) : scoring];
    }
    return this.#applied?.[1];
  }

  /** Forgets all swipes; the factors are 1 again. */
  forget() {
    this.#swipes = [];
    this.fit();
  }
}

/**
 * Constants multiplied by factors. That of the evidence divides the temperature, so that probabilities stay true.
 * @param {any} scoring
 * @param {number[]} factors
 * @returns {any}
 */
function scaled(scoring, factors) {
  const [evidence] = factors;
  const changed = { ...scoring, temperature: scoring.temperature / evidence, matched: scoring.matched && scaled(scoring.matched, factors) };
  for (const name of STEADY) changed[name] = scoring[name] / evidence;
  for (const [term, names] of Object.entries(WEIGHTS)) {
    for (const name of names) changed[name] = (scoring[name] * factors[TERMS.indexOf(term)]) / evidence;
  }
  return changed;
}

/**
 * The swipes in a file's JSON. Terms that the file lacks are zero there, so their factors stay at 1.
 * @param {any} data
 * @param {Constants} constants
 * @returns {number[][][]}
 */
function readSwipes(data, { memory, finalists, limit }) {
  const { version, terms, sizes, values } = data ?? {};
  if (version !== VERSION) throw new HabitsError(`the habits have version ${version}; this reads ${VERSION}`);
  if (!Array.isArray(terms) || !Array.isArray(sizes) || typeof values !== "string") {
    throw new HabitsError("the habits need a list of terms, a list of sizes and a string of values");
  }
  const unknown = terms.find((term) => !TERMS.includes(term));
  if (unknown !== undefined) throw new HabitsError(`the habits know no term "${unknown}", only ${TERMS.join(", ")}`);
  if (new Set(terms).size < terms.length || sizes.length > memory) throw new HabitsError(`the habits need distinct terms and at most ${memory} swipes`);
  if (!sizes.every((size) => Number.isInteger(size) && size >= 2 && size <= finalists)) throw new HabitsError(`every swipe of the habits has 2 to ${finalists} finalists`);
  const found = readHalves(values);
  const count = sizes.reduce((sum, size) => sum + size, 0) * terms.length;
  if (found.length !== count || !found.every((value) => Math.abs(value) <= 2 * limit)) throw new HabitsError(`the habits need ${count} finite numbers`);
  const columns = TERMS.map((term) => terms.indexOf(term));
  let at = 0;
  return sizes.map((size) => Array.from({ length: size }, () => {
    const row = columns.map((column) => (column < 0 ? 0 : found[at + column]));
    at += terms.length;
    return row;
  }));
}

/**
 * @param {string} values half floats, little-endian, in base64
 * @returns {number[]}
 */
function readHalves(values) {
  try {
    const bytes = Uint8Array.from(atob(values), (char) => char.charCodeAt(0));
    return Array.from({ length: bytes.length / 2 }, (_, i) => fromHalf(bytes[2 * i] | (bytes[2 * i + 1] << 8)));
  } catch {
    throw new HabitsError("the values of the habits cannot be read");
  }
}

/**
 * The bits of the half float next to a number, which is small enough to have one.
 * @param {number} value
 * @returns {number}
 */
function toHalf(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  const exponent = Math.max(size < 2 ** -14 ? -14 : Math.floor(Math.log2(size)), -14);
  const steps = roundHalfEven(size / 2 ** (exponent - 10)); // 1024 to 2048 of them, fewer below the smallest exponent
  return sign + ((exponent + 14) << 10) + steps; // a carry moves on to the next exponent by itself
}

/**
 * @param {number} bits of a half float
 * @returns {number}
 */
function fromHalf(bits) {
  const [exponent, steps] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent === 31 ? NaN : exponent ? (1024 + steps) * 2 ** (exponent - 25) : steps * 2 ** -24;
  return bits & 0x8000 ? -size : size;
}
