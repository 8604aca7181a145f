// What the words before a swipe say of its finalists: reads a context file, and the last words of a text.

import { crc32, items } from "./binary.js";
import { SPACE } from "./typing.js";

const MAGIC = "glissctx";
const VERSION = 1;
const BEGIN = "<s>"; // the beginning of a sentence, number 0
const ARRAYS = { // in the order of the file
  text: Uint8Array, offsets: Int32Array, backoffs: Int8Array, starts: Int32Array, nexts: Uint16Array, ratios: Int8Array,
  pairs: Int32Array, pair_backoffs: Int8Array, pair_starts: Int32Array, pair_nexts: Uint16Array, pair_ratios: Int8Array,
};

const ENDS = new RegExp(`[.!?…:;]+(?=[${SPACE}"'”’»)]|$)|[。！？\\n\\r]+`, "u");
// Letters and digits of all scripts, and marks on letters where they are among the first 65,536 characters.
const PART = "(?:[\\p{L}\\p{N}]|(?![\\u{10000}-\\u{10ffff}])[\\p{Mn}\\p{Mc}])+";
const WORDS = new RegExp(`${PART}(?:['’\\-]${PART})*`, "gu");

export class ContextError extends Error {}

/**
 * @typedef {object} Constants the bundle's "context"
 * @property {number} step nats of a stored byte
 * @property {number} trust log-odds that a text goes on as language does, before any word is seen
 * @property {number} min_trust
 * @property {number} max_trust how far words can move them
 * @property {number} tail characters of a text that are looked at
 * @property {string[]} elisions what is a word of its own before an apostrophe
 */

/**
 * @typedef {object} Tables the arrays of the file
 * @property {Uint8Array} text
 * @property {Int32Array} offsets
 * @property {Int8Array} backoffs
 * @property {Int32Array} starts
 * @property {Uint16Array} nexts
 * @property {Int8Array} ratios
 * @property {Int32Array} pairs
 * @property {Int8Array} pair_backoffs
 * @property {Int32Array} pair_starts
 * @property {Uint16Array} pair_nexts
 * @property {Int8Array} pair_ratios
 */

/** Which words follow which. */
export class Context {
  /**
   * @param {Tables} tables
   * @param {Constants} constants
   */
  constructor(tables, constants) {
    this.tables = tables;
    this.constants = constants;
    const { text, offsets } = tables;
    const decoder = new TextDecoder("utf-8", { fatal: true });
    this.numbers = new Map();
    for (let i = 0; i + 1 < offsets.length; i += 1) this.numbers.set(decoder.decode(text.subarray(offsets[i], offsets[i + 1])), i);
  }

  /**
   * @param {string} word as a lexicon writes it
   * @returns {number} -1 where it is not known
   */
  number(word) {
    return this.numbers.get(plain(word)) ?? -1;
  }

  /**
   * @param {string} text
   * @returns {number[]} the numbers of its last two words, with 0 before them where a sentence begins there
   */
  state(text) {
    return lastWords(text, this.constants).map((word) => this.numbers.get(word) ?? -1);
  }

  /**
   * The state after one more word: [0, 5] and 7 give [0, 5, 7], then 9 gives [7, 9].
   * @param {number[]} state
   * @param {number} word its number
   * @returns {number[]}
   */
  advance(state, word) {
    const words = [...state, word];
    return words[0] === 0 && words.length <= 3 ? words : words.slice(-2);
  }

  /**
   * What may follow a state.
   * @param {number[]} state
   * @returns {Outlook}
   */
  follow(state) {
    const { trust: even, min_trust: least, max_trust: most } = this.constants;
    const [third, second, last] = [-1, -1, -1, ...state].slice(-3);
    const logOdds = even + this.ratio(last, second, third) + this.ratio(second, third);
    const trust = 1 / (1 + Math.exp(-Math.min(Math.max(logOdds, least), most)));
    return new Outlook(this, last, findPair(this.tables, second, last), last >= 0 ? trust : 0);
  }

  /**
   * What may follow a text.
   * @param {string} text
   * @returns {Outlook}
   */
  after(text) {
    return this.follow(this.state(text));
  }

  /**
   * ln P(word | words before) / P(word); 0 where the word or the one before it is unknown or none.
   * @param {number} word
   * @param {number} last
   * @param {number} [second]
   */
  ratio(word, last, second = -1) {
    if (word <= 0 || last < 0) return 0;
    return this.constants.step * stored(this.tables, word, last, findPair(this.tables, second, last));
  }
}

/** What may follow in one place of a text. */
export class Outlook {
  /**
   * @param {Context} context the counts
   * @param {number} last the number of the word before, -1 if it is not known
   * @param {number} pair the row of the two words before, -1 where they predict nothing more
   * @param {number} trust the probability that the text goes on as language does; 0 in an unknown context
   */
  constructor(context, last, pair, trust) {
    this.context = context;
    this.last = last;
    this.pair = pair;
    this.trust = trust;
  }

  /** ln of what a word's probability is multiplied by if it was never seen here. */
  get unseen() {
    return this.trust ? this.#likelier(stored(this.context.tables, -1, this.last, this.pair)) : 0;
  }

  /**
   * What words gain over one that was never seen here, in nats.
   * @param {number[]} words their numbers
   * @returns {number[]}
   */
  gains(words) {
    if (!this.trust) return words.map(() => 0);
    const never = stored(this.context.tables, -1, this.last, this.pair);
    return words.map((word) => {
      const steps = stored(this.context.tables, word, this.last, this.pair);
      return steps === never ? 0 : this.#likelier(steps) - this.#likelier(never);
    });
  }

  /** @param {number} steps */
  #likelier(steps) {
    return Math.log(this.trust * Math.exp(this.context.constants.step * steps) + 1 - this.trust);
  }
}

/**
 * @param {ArrayBuffer} buffer the whole file
 * @param {Constants} constants
 * @returns {Context}
 */
export function readContext(buffer, constants) {
  const view = new DataView(buffer);
  const text = (/** @type {number} */ start, /** @type {number} */ length) => new TextDecoder().decode(new Uint8Array(buffer, start, length));
  if (buffer.byteLength < 16 || text(0, 8) !== MAGIC) throw new ContextError("this is no context file");
  const [version, size] = [view.getUint32(8, true), view.getUint32(12, true)];
  if (version !== VERSION) throw new ContextError(`the context has version ${version}; this reads ${VERSION}`);
  const header = JSON.parse(text(16, size));
  /** @type {any} */
  const tables = {};
  let at = 16 + size;
  if (crc32(new Uint8Array(buffer, at)) !== header.crc32) throw new ContextError("the context is damaged: its checksum does not fit");
  for (const [name, Kind] of Object.entries(ARRAYS)) {
    tables[name] = items(buffer, /** @type {any} */ (Kind), at, header.arrays[name]);
    at += Math.ceil((header.arrays[name] * Kind.BYTES_PER_ELEMENT) / 8) * 8;
  }
  return new Context(tables, constants);
}

/**
 * The ratio of a word after the last one, and after the pair of a row, -1 for none, in steps.
 * @param {Tables} tables
 * @param {number} word
 * @param {number} last
 * @param {number} pair
 */
function stored(tables, word, last, pair) {
  const { backoffs, starts, nexts, ratios, pair_backoffs: pairBackoffs, pair_starts: pairStarts, pair_nexts: pairNexts, pair_ratios: pairRatios } = tables;
  let more = 0;
  if (pair >= 0) {
    const place = find(pairNexts, pairStarts[pair], pairStarts[pair + 1], word);
    if (place >= 0) return pairRatios[place];
    more = pairBackoffs[pair];
  }
  const place = find(nexts, starts[last], starts[last + 1], word);
  return more + (place >= 0 ? ratios[place] : backoffs[last]);
}

/**
 * The row of a pair that predicts a third word, or -1.
 * @param {Tables} tables
 * @param {number} second
 * @param {number} last
 */
function findPair({ starts, nexts, pairs }, second, last) {
  if (second < 0 || last < 0) return -1;
  const place = find(nexts, starts[second], starts[second + 1], last);
  return place >= 0 ? find(pairs, 0, pairs.length, place) : -1;
}

/**
 * The place of a number between two places of an ascending array, or -1.
 * @param {Int32Array | Uint16Array} numbers
 * @param {number} start
 * @param {number} end
 * @param {number} wanted
 */
function find(numbers, start, end, wanted) {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low < end && numbers[low] === wanted ? low : -1;
}

/**
 * The last two words of a text, with BEGIN before them where a sentence begins there.
 * @param {string} text
 * @param {{tail: number, elisions: string[]}} constants
 * @returns {string[]}
 */
export function lastWords(text, { tail, elisions }) {
  const characters = [...text.slice(-2 * tail - 1)]; // code points, of which one may take two units
  const ended = characters.slice(-tail).join("").normalize("NFC").split(ENDS);
  const words = splitWords(ended.pop() ?? "", elisions);
  if (characters.length > tail && !ended.length) return words.slice(1).slice(-2); // the first word may be cut in half
  return words.length <= 2 ? [BEGIN, ...words] : words.slice(-2);
}

/**
 * The words of a sentence in lower case.
 * @param {string} sentence
 * @param {string[]} elisions
 * @returns {string[]}
 */
export function splitWords(sentence, elisions) {
  return writtenWords(sentence).map(plain).flatMap((word) => {
    const head = word.slice(0, Math.max(word.indexOf("'"), 0));
    return elisions.includes(head) ? [head, word.slice(head.length + 1)] : [word];
  });
}

/**
 * The words of a text as they are written there.
 * @param {string} text
 * @returns {string[]}
 */
export function writtenWords(text) {
  return text.match(WORDS) ?? [];
}

/**
 * A word as it is counted: lower case, with a straight apostrophe.
 * @param {string} word
 */
function plain(word) {
  return word.toLowerCase().replaceAll("’", "'");
}
