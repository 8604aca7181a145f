// The rank of the finalists: evidence, length, frequency and geometry, the matcher and the words before.

/**
 * @typedef {object} Word a surface form of a finalist with the terms of its score
 * @property {number} index in the trie's words
 * @property {number} node
 * @property {number} logProb
 * @property {number} frequency
 * @property {number} location
 * @property {number} shape
 * @property {number} match 0 where the matcher was not asked
 * @property {number} score
 */

/** Whether the ranking needs the distances. */
export function isGeometric(scoring) {
  return Boolean(scoring.location_weight || scoring.shape_weight || (scoring.matched && isGeometric(scoring.matched)));
}

/**
 * @param {number} logProb
 * @param {number} length letters typed
 * @param {number} frequency byte
 * @param {object} scoring
 * @param {number[]} [distances] location and shape
 * @returns {number} higher is better
 */
export function scoreWord(logProb, length, frequency, scoring, [location, shape] = [0, 0]) {
  return logProb / Math.max(length, 1) ** scoring.length_exponent
    + scoring.frequency_weight * Math.max(frequency, scoring.frequency_floor)
    + scoring.length_bonus * length
    - scoring.location_weight * location - scoring.shape_weight * shape;
}

/**
 * Scores every word of the finalists, without context.
 * @param {{node: number, logProb: number}[]} hypotheses
 * @param {number[][] | null} distances
 * @param {number[] | null} matches of the matcher; null where it was not asked
 * @param {import("./trie.js").Trie} trie
 * @param {object} scoring
 * @returns {{words: Word[], constants: object}} the constants are those they were scored by
 */
export function score(hypotheses, distances, matches, trie, scoring) {
  const constants = matches ? scoring.matched : scoring;
  const words = [];
  hypotheses.forEach(({ node, logProb }, i) => {
    const [location, shape] = distances?.[i] ?? [0, 0];
    const match = matches?.[i] ?? 0;
    for (let index = trie.endings[node]; index < trie.endings[node + 1]; index += 1) {
      const frequency = trie.frequencies[index];
      const alone = scoreWord(logProb, trie.depths[node], frequency, constants, [location, shape]);
      words.push({ index, node, logProb, frequency, location, shape, match, score: alone + constants.matcher_weight * match });
    }
  });
  return { words, constants };
}

/**
 * The best k words after a text, with their terms and probabilities.
 * @param {{words: Word[], constants: object}} finalists
 * @param {number[]} gains what each word gains by the text
 * @param {import("./trie.js").Trie} trie
 * @param {number} k
 */
export function choose({ words, constants }, gains, trie, k) {
  const scores = words.map((word, i) => word.score + constants.context_weight * gains[i]);
  const shares = softmax(scores, constants.temperature);
  // Array.sort is stable, so equals stay in the beam's order.
  const best = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || words[b].frequency - words[a].frequency);
  return best.slice(0, k).map((i) => {
    const { index, node, ...terms } = words[i];
    return { word: trie.word(index), letters: trie.spell(node), ...terms, gain: gains[i], score: scores[i], probability: shares[i] };
  });
}

/**
 * @param {number[]} scores
 * @param {number} temperature
 * @returns {number[]} shares that sum to one
 */
export function softmax(scores, temperature) {
  const highest = scores.reduce((most, one) => Math.max(most, one), -Infinity);
  const weights = scores.map((one) => Math.exp((one - highest) / temperature));
  const sum = weights.reduce((total, one) => total + one, 0);
  return weights.map((one) => one / sum);
}
