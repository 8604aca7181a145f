// The rank of the words: evidence, length, frequency and geometry, the matcher and the words before.

/**
 * Whether the ranking needs the distances.
 * @param {import("./types.js").Scoring} scoring
 * @returns {boolean}
 */
export function isGeometric(scoring) {
  return Boolean(scoring.location_weight || scoring.shape_weight || (scoring.matched && isGeometric(scoring.matched)));
}

/**
 * @param {import("./dictionary.js").Spelling} spelling
 * @param {number} frequency byte of the word
 * @param {import("./types.js").Scoring} scoring
 * @returns {number} higher is better
 */
export function scoreSpelling({ logProb, labels, fluency, location, shape }, frequency, scoring) {
  const score = logProb / Math.max(labels.length, 1) ** scoring.length_exponent
    + scoring.frequency_weight * Math.max(frequency, scoring.frequency_floor)
    + scoring.length_bonus * labels.length
    - scoring.location_weight * location - scoring.shape_weight * shape;
  return fluency < 0 ? score + literalTerm(fluency, scoring) : score;
}

/**
 * What a literal has in place of a frequency, less that of byte 0.
 * @param {number} fluency
 * @param {import("./types.js").Scoring} scoring
 */
export function literalTerm(fluency, scoring) {
  const neverCounted = scoring.frequency_weight * Math.max(scoring.frequency_floor, 0);
  return scoring.literal_bonus + scoring.fluency_weight * fluency - neverCounted;
}

/**
 * @typedef {import("./dictionary.js").Form & {spelling: import("./dictionary.js").Spelling, match: number, score: number}} Finalist
 * @typedef {{words: Finalist[], constants: import("./types.js").Scoring}} Finalists the words that a swipe may mean; the constants are those they were
 *   scored by
 */

/**
 * Scores words, without context.
 * @param {import("./dictionary.js").Spelling[]} spellings
 * @param {import("./dictionary.js").Form[]} forms their words
 * @param {number[] | null} matches of the matcher; null where it was not asked
 * @param {import("./types.js").Scoring} scoring
 * @returns {Finalists}
 */
export function score(spellings, forms, matches, scoring) {
  const constants = (matches && scoring.matched) || scoring;
  const words = forms.map(({ row, word, text, frequency }) => {
    const spelling = spellings[row];
    const match = matches?.[row] ?? 0;
    const alone = scoreSpelling(spelling, frequency, constants);
    return { row, word, text, frequency, spelling, match, score: matches ? alone + constants.matcher_weight * match : alone };
  });
  return { words, constants };
}

/**
 * The places of finalists, the likeliest first; scores and then bytes decide between equals.
 * @param {{frequency: number}[]} words
 * @param {number[]} scores
 * @param {number[]} likely the share of each
 * @returns {number[]}
 */
export function rank(words, scores, likely) {
  // Array.sort is stable, so equals stay in the order of the spellings.
  const order = (/** @type {number} */ a, /** @type {number} */ b) => likely[b] - likely[a] || scores[b] - scores[a] || words[b].frequency - words[a].frequency;
  return [...scores.keys()].sort(order);
}

/**
 * The probability of each word found; that none of them is meant takes part.
 * @param {number[]} scores
 * @param {import("./types.js").Scoring} scoring
 * @returns {number[]} which sum to less than one
 */
export function shares(scores, scoring) {
  const highest = scores.reduce((most, one) => Math.max(most, one), -Infinity);
  return softmax([...scores, scoring.none_bonus + scoring.none_share * highest], scoring.temperature).slice(0, -1);
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
