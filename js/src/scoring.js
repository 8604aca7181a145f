// The rank of the words: evidence, length, frequency and geometry, the matcher and the words before.

/** Whether the ranking needs the distances. */
export function isGeometric(scoring) {
  return Boolean(scoring.location_weight || scoring.shape_weight || (scoring.matched && isGeometric(scoring.matched)));
}

/**
 * @param {import("./dictionary.js").Spelling} spelling
 * @param {number} frequency byte of the word
 * @param {object} scoring
 * @returns {number} higher is better
 */
export function scoreSpelling({ logProb, labels, fluency, location, shape }, frequency, scoring) {
  const score = logProb / Math.max(labels.length, 1) ** scoring.length_exponent
    + scoring.frequency_weight * Math.max(frequency, scoring.frequency_floor)
    + scoring.length_bonus * labels.length
    - scoring.location_weight * location - scoring.shape_weight * shape;
  return fluency < 0 ? score + literalTerm(fluency, scoring) : score;
}

/** What a literal has in place of a frequency, less that of byte 0. */
export function literalTerm(fluency, scoring) {
  const neverCounted = scoring.frequency_weight * Math.max(scoring.frequency_floor, 0);
  return scoring.literal_bonus + scoring.fluency_weight * fluency - neverCounted;
}

/**
 * Scores words, without context.
 * @param {import("./dictionary.js").Spelling[]} spellings
 * @param {{row: number, place: number, text: string | null, frequency: number}[]} forms their words
 * @param {number[] | null} matches of the matcher; null where it was not asked
 * @param {object} scoring
 * @returns {{words: object[], constants: object}} the constants are those they were scored by
 */
export function score(spellings, forms, matches, scoring) {
  const constants = matches ? scoring.matched : scoring;
  const words = forms.map((form) => {
    const spelling = spellings[form.row];
    const match = matches?.[form.row] ?? 0;
    const alone = scoreSpelling(spelling, form.frequency, constants);
    return { ...form, spelling, match, score: matches ? alone + constants.matcher_weight * match : alone };
  });
  return { words, constants };
}

/**
 * The best k words after a text, with their terms and probabilities. `none` of them says how likely none is meant.
 * @param {{words: object[], constants: object}} finalists
 * @param {number[]} gains what each word gains by the text
 * @param {(word: object) => string} write a word as it is written
 * @param {number} k
 */
export function choose({ words, constants }, gains, write, k) {
  const scores = words.map((word, i) => word.score + constants.context_weight * gains[i]);
  const likely = shares(scores, constants);
  // Array.sort is stable, so equals stay in the order of the spellings.
  const order = (a, b) => likely[b] - likely[a] || scores[b] - scores[a] || words[b].frequency - words[a].frequency;
  const best = [...scores.keys()].sort(order).slice(0, k).map((i) => {
    const { spelling: { tree, node, logProb, fluency, location, shape, source }, frequency, match } = words[i];
    const terms = { logProb, frequency: Math.round(frequency), fluency, location, shape, match, gain: gains[i] };
    return { word: write(words[i]), letters: tree.spell(node), literal: source === "literal", ...terms, score: scores[i], probability: likely[i] };
  });
  const none = Math.max(0, 1 - best.reduce((sum, one) => sum + one.probability, 0));
  return Object.assign(best, { none });
}

/**
 * The probability of each word found; that none of them is meant takes part.
 * @param {number[]} scores
 * @param {object} scoring
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
