// Reads a swipe letter by letter, without a lexicon: a small CTC beam over strings, kept from nonsense by a character n-gram.

import { add, select } from "./beam.js";
import { MAX_DEPTH } from "./grow.js";
import { Tree } from "./tree.js";

const IMPOSSIBLE = Math.fround(-1e30); // log of zero

export class FluencyError extends Error {}

/** A character n-gram over the letters of a layout; the beginning and the end of a word are one more sign. */
export class Fluency {
  /**
   * @param {Uint8Array} costs of every gram, the last letter running fastest
   * @param {number} order letters of a gram
   * @param {number} signs letters and one more
   */
  constructor(costs, order, signs) {
    if (costs.length !== signs ** order) throw new FluencyError(`the fluency has ${costs.length} bytes, not ${signs ** order}`);
    this.costs = costs;
    this.order = order;
    this.signs = signs;
  }
}

/**
 * @typedef {object} Counting the kit's "fluency"
 * @property {number} order letters of a gram at the most
 * @property {number} max_grams bytes of the table at the most; an alphabet of many letters has shorter grams
 * @property {number} step nats of a stored byte
 * @property {number} frequency a word counts exp(frequency * its byte)
 */

/**
 * Counts the n-gram of a lexicon typed on some letters, by Witten and Bell's interpolation.
 * @param {import("./lexicon.js").Lexicon} lexicon
 * @param {import("./types.js").Spelled} spelled the labels of its words
 * @param {number} letters how many the layout has
 * @param {Counting} constants
 * @returns {Fluency}
 */
export function buildFluency(lexicon, spelled, letters, { order: longest, max_grams: most, step, frequency }) {
  const signs = letters + 1;
  let order = longest;
  while (order > 1 && signs ** order > most) order -= 1;
  const counts = countGrams(lexicon, spelled, signs, order, frequency);
  let [total, kinds] = [0, 0];
  for (let i = 0; i < counts.length; i += 1) {
    total += counts[i];
    if (counts[i] > 0) kinds += 1;
  }
  const unit = total / Math.max(kinds, 1); // what a gram that was seen counts
  const levels = [counts]; // counts of the grams of n letters, the longest last
  while (levels.length < order) levels.unshift(withoutFirst(levels[0], signs));
  let shares = new Float64Array(signs).fill(1 / signs);
  for (const seen of levels) shares = interpolate(seen, shares, signs, unit);
  const costs = new Uint8ClampedArray(shares.length); // it rounds halves to the even neighbour
  for (let i = 0; i < shares.length; i += 1) costs[i] = -Math.log(shares[i]) / step;
  return new Fluency(new Uint8Array(costs.buffer), order, signs);
}

/**
 * How often each gram occurs, words weighed by their frequencies.
 * @param {import("./lexicon.js").Lexicon} lexicon
 * @param {import("./types.js").Spelled} spelled
 * @param {number} signs
 * @param {number} order
 * @param {number} frequency
 * @returns {Float64Array} [signs ** order]
 */
function countGrams({ frequencies }, { labels, offsets }, signs, order, frequency) {
  const counts = new Float64Array(signs ** order);
  const weights = Float64Array.from({ length: 256 }, (_, byte) => Math.exp(frequency * byte));
  const [edge, histories] = [signs - 1, signs ** (order - 1)];
  for (let word = 0; word < frequencies.length; word += 1) {
    const [start, end] = [offsets[word], offsets[word + 1]];
    if (end - start < 2 || end - start > MAX_DEPTH) continue;
    const weight = weights[frequencies[word]];
    let history = histories - 1; // nothing but the sign around words, which is the last
    for (let at = start; at <= end; at += 1) {
      const gram = history * signs + (at < end ? labels[at] : edge);
      counts[gram] += weight;
      history = gram % histories;
    }
  }
  return counts;
}

/**
 * The counts of grams without their first letter.
 * @param {Float64Array} counts
 * @param {number} signs
 */
function withoutFirst(counts, signs) {
  const size = counts.length / signs;
  const shorter = new Float64Array(size);
  for (let first = 0; first < counts.length; first += size) for (let i = 0; i < size; i += 1) shorter[i] += counts[first + i];
  return shorter;
}

/**
 * The probabilities of the last letters of grams, from their counts and the probabilities after one letter less.
 * @param {Float64Array} seen counts
 * @param {Float64Array} shorter
 * @param {number} signs
 * @param {number} unit
 */
function interpolate(seen, shorter, signs, unit) {
  const shares = new Float64Array(seen.length);
  for (let start = 0; start < seen.length; start += signs) {
    let [total, kinds] = [0, 0];
    for (let i = start; i < start + signs; i += 1) {
      total += seen[i];
      if (seen[i] > 0) kinds += 1;
    }
    const trust = total / (total + Math.max(kinds, 1) * unit);
    const scale = trust / Math.max(total, 1e-12);
    const below = start % shorter.length;
    for (let i = 0; i < signs; i += 1) shares[start + i] = scale * seen[start + i] + (1 - trust) * shorter[below + i];
  }
  return shares;
}

/**
 * @typedef {object} Constants the bundle's "literals", and sure_blank of its "search"
 * @property {number} strings that are offered
 * @property {number} longest letters of one
 * @property {number} plain log-probability of a sure word from which on no literals are read
 * @property {number} width strings kept from frame to frame
 * @property {number} restricted_width the same where the string must end in letters that were tapped
 * @property {number} fluency
 * @property {number} letter the strings of the highest logProb + fluency * their fluency + letter * their letters are kept
 * @property {number} unlikely log-probability below which a letter is not tried
 * @property {number} step nats of a stored byte
 * @property {number} [sure_blank]
 */

/** The beam: its strings, and behind them those that a frame adds. */
class Strings {
  /**
   * @param {number} width
   * @param {number} classes
   * @param {number} frames
   * @param {Constants} constants
   */
  constructor(width, classes, frames, constants) {
    const room = width * classes;
    this.node = new Uint32Array(room); // in the tree; of a new string, of the one that it extends
    this.label = new Uint8Array(room); // its last letter
    this.history = new Uint32Array(room); // the number of its last n - 1 signs
    this.inBlank = new Float32Array(room);
    this.inLetter = new Float32Array(room);
    this.fluency = new Float32Array(room);
    this.rank = new Float32Array(room);
    this.spare = new Float32Array(room); // the selection's copy of the ranks
    this.totals = new Float32Array(width);
    this.ended = new Float32Array(width);
    const nodes = 1 + width * frames;
    this.labels = new Uint8Array(nodes);
    this.depths = new Uint8Array(nodes);
    this.parents = new Uint32Array(nodes);
    this.width = width;
    this.constants = constants;
    this.sure = Math.fround(Math.log(constants.sure_blank ?? 1));
    this.nodes = 1;
    this.size = 1;
    this.filled = 1;
    this.histories = 0;
  }

  /**
   * The empty string: its last n - 1 signs are the one around words, and it has no letter.
   * @param {Fluency} fluency
   */
  start({ order, signs }) {
    this.histories = signs ** (order - 1);
    this.history[0] = this.histories - 1;
    this.label[0] = signs - 1; // of blank
    this.inLetter[0] = IMPOSSIBLE;
  }

  /**
   * Advances every string by one frame, in place, and appends longer ones.
   * @param {Float32Array} frame
   * @param {Fluency} fluency
   * @param {number[]} prefix
   */
  extend(frame, { costs }, prefix) {
    const { node, label, inBlank, inLetter, rank, totals, ended, size, constants } = this;
    const blank = frame.length - 1;
    for (let i = 0; i < size; i += 1) {
      totals[i] = add(inBlank[i], inLetter[i]);
      ended[i] = inBlank[i]; // only from a blank may the same letter come again
      inBlank[i] = totals[i] + frame[blank];
      inLetter[i] += frame[label[i]];
    }
    this.filled = size;
    for (let letter = 0; letter < blank && !(frame[blank] > this.sure); letter += 1) {
      if (frame[letter] < constants.unlikely) continue;
      for (let i = 0; i < size; i += 1) {
        const depth = this.depths[node[i]];
        if (depth === MAX_DEPTH || (depth < prefix.length && prefix[depth] !== letter)) continue;
        const reached = Math.fround((letter === label[i] ? ended[i] : totals[i]) + frame[letter]);
        const twin = this.#twin(node[i], letter, depth + 1);
        if (twin >= 0) inLetter[twin] = add(inLetter[twin], reached);
        else this.#append(i, letter, reached, depth + 1, costs, blank + 1);
      }
    }
    for (let i = 0; i < size; i += 1) rank[i] = this.#rank(add(inBlank[i], inLetter[i]), i, this.depths[node[i]]);
  }

  /**
   * The string of the beam that extends a node by a letter, or -1.
   * @param {number} parent
   * @param {number} letter
   * @param {number} depth
   */
  #twin(parent, letter, depth) {
    for (let j = 0; j < this.size; j += 1) {
      const node = this.node[j];
      if (this.label[j] === letter && this.parents[node] === parent && this.depths[node] === depth) return j;
    }
    return -1;
  }

  /**
   * @param {number} i the string that is extended
   * @param {number} letter
   * @param {number} reached
   * @param {number} depth
   * @param {Uint8Array} costs
   * @param {number} signs
   */
  #append(i, letter, reached, depth, costs, signs) {
    const at = this.filled;
    this.node[at] = this.node[i];
    this.label[at] = letter;
    this.history[at] = this.history[i] * signs + letter;
    this.inBlank[at] = IMPOSSIBLE;
    this.inLetter[at] = reached;
    this.fluency[at] = this.fluency[i] - this.constants.step * costs[this.history[at]];
    this.rank[at] = this.#rank(reached, at, depth);
    this.filled += 1;
  }

  /**
   * @param {number} logProb
   * @param {number} at
   * @param {number} depth
   */
  #rank(logProb, at, depth) {
    return logProb + Math.fround(this.constants.fluency) * this.fluency[at] + Math.fround(this.constants.letter) * depth;
  }

  // Keeps the `width` strings of the highest rank, in their order; new ones get a node.
  keep() {
    const { rank, filled, width, size } = this;
    let [threshold, room] = [IMPOSSIBLE, 0];
    if (filled > width) {
      this.spare.set(rank.subarray(0, filled));
      threshold = select(this.spare, filled, filled - width);
      room = width;
      for (let i = 0; i < filled; i += 1) if (rank[i] > threshold) room -= 1;
    }
    let kept = 0;
    for (let i = 0; i < filled; i += 1) {
      if (rank[i] < threshold || (rank[i] === threshold && room-- <= 0)) continue;
      this.#move(i, kept, i >= size);
      kept += 1;
    }
    this.size = kept;
  }

  /**
   * @param {number} from
   * @param {number} to
   * @param {boolean} isNew
   */
  #move(from, to, isNew) {
    const { node, label, history, inBlank, inLetter, fluency, rank } = this;
    const parent = node[from];
    node[to] = parent;
    if (isNew) {
      this.labels[this.nodes] = label[from];
      this.parents[this.nodes] = parent;
      this.depths[this.nodes] = this.depths[parent] + 1;
      node[to] = this.nodes;
      this.nodes += 1;
    }
    history[to] = isNew ? history[from] % this.histories : history[from];
    label[to] = label[from];
    inBlank[to] = inBlank[from];
    inLetter[to] = inLetter[from];
    fluency[to] = fluency[from];
    rank[to] = rank[from];
  }
}

/**
 * Strings of letters read in a swipe, the best first.
 * @param {Float32Array} logProbs [frames, letters + 1], blank last
 * @param {string[]} letters
 * @param {Fluency} fluency
 * @param {Constants} constants
 * @param {import("./types.js").Affixes} affixes labels that the strings begin and end with
 * @returns {{tree: Tree, found: {node: number, logProb: number, fluency: number}[]}}
 */
export function readLetters(logProbs, letters, fluency, constants, { prefix, suffix }) {
  const { signs, costs } = fluency;
  const width = suffix.length ? constants.restricted_width : constants.width;
  const strings = new Strings(width, signs, logProbs.length / signs, constants);
  strings.start(fluency);
  for (let start = 0; start < logProbs.length; start += signs) {
    strings.extend(logProbs.subarray(start, start + signs), fluency, prefix);
    if (strings.filled > strings.size) strings.keep();
  }
  const tree = new Tree(letters, strings.labels, strings.depths, strings.parents);
  const found = Array.from({ length: strings.size }, (_, i) => ({
    node: strings.node[i],
    logProb: Math.fround(add(strings.inBlank[i], strings.inLetter[i])),
    fluency: strings.fluency[i] - constants.step * costs[strings.history[i] * signs + signs - 1],
  }));
  const rank = (/** @type {{node: number, logProb: number, fluency: number}} */ { node, logProb, fluency: fluent }) => logProb + constants.fluency * fluent + constants.letter * tree.depths[node];
  const least = Math.max(prefix.length, 1);
  const whole = found.filter(({ node }) => tree.depths[node] >= least && tree.endsWith(node, suffix));
  return { tree, found: whole.sort((a, b) => rank(b) - rank(a)) };
}
