// The matcher: which spellings of a swipe in doubt it compares, and what it is given.

import { scoreSpelling, shares } from "./scoring.js";

/**
 * The spellings to compare, best first. Null where the best is sure, where there are not two, or where one of them has
 * too many letters.
 * @param {import("./dictionary.js").Spelling[]} spellings
 * @param {import("./types.js").Scoring} scoring
 * @param {{finalists: number, longest: number}} constants the bundle's "matcher"
 * @returns {number[] | null} indices into spellings
 */
export function contenders(spellings, scoring, { finalists, longest }) {
  const scores = spellings.map((spelling) => scoreSpelling(spelling, spelling.frequency, scoring));
  const best = [...scores.keys()].sort((a, b) => scores[b] - scores[a]).slice(0, finalists);
  if (best.length < 2 || shares(scores, scoring)[best[0]] >= scoring.doubt) return null;
  return best.every((i) => spellings[i].labels.length <= longest) ? best : null;
}

/**
 * Fractions of the letter area to key widths around its middle, both ways by its aspect. In float32, as the reference.
 * @param {number} x
 * @param {number} y
 * @param {number} width of the median key
 * @param {number} aspect height over width of the letter area
 * @returns {number[]}
 */
export function toKeyWidths(x, y, width, aspect) {
  const scale = (/** @type {number} */ value, /** @type {number} */ factor) => Math.fround(Math.fround(Math.fround(value) - 0.5) * Math.fround(factor));
  return [scale(x, 1 / width), scale(y, aspect / width)];
}

/**
 * The key of every letter; of several the one nearest to the path, of equals the first.
 * @param {number[][][]} keys for each letter its keys, [x, y]
 * @param {number[][]} path [x, y] in the same units
 * @returns {number[][]}
 */
export function letterKeys(keys, path) {
  const gap = (/** @type {number[]} */ [x, y]) => Math.min(...path.map((point) => (point[0] - x) ** 2 + (point[1] - y) ** 2));
  return keys.map((group) => {
    const gaps = group.length > 1 ? group.map(gap) : [0];
    return group[gaps.indexOf(Math.min(...gaps))];
  });
}

/**
 * What the network takes, but for the path.
 * @param {number[][]} words labels of each finalist's letters
 * @param {number[][]} keys of every letter, [x, y]
 * @returns {{keys: Float32Array, mask: Uint8Array, longest: number}} [N, L, 2] and [N, L], zero beyond a word's end
 */
export function spellKeys(words, keys) {
  const longest = Math.max(...words.map((word) => word.length));
  const [spelled, mask] = [new Float32Array(2 * words.length * longest), new Uint8Array(words.length * longest)];
  words.forEach((word, row) => word.forEach((label, column) => {
    const at = row * longest + column;
    spelled.set(keys[label], 2 * at);
    mask[at] = 1;
  }));
  return { keys: spelled, mask, longest };
}

/**
 * The match of every spelling, the highest 0: one that was not compared has the lowest.
 * @param {Float32Array} found the network's scores
 * @param {number[]} compared which spellings they are of
 * @param {number} count spellings in all
 * @returns {number[]}
 */
export function spread(found, compared, count) {
  const highest = Math.max(...found);
  const matches = new Array(count).fill(Math.min(...found) - highest);
  compared.forEach((place, i) => { matches[place] = found[i] - highest; });
  return matches;
}
