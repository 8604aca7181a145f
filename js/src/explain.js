// What the networks saw in a swipe, and why a word was not its first candidate. The answer is the JSON of /api/explain.

import { align, neededFrames, wordLogProb } from "./ctc.js";
import { LEXICON, OWN } from "./dictionary.js";
import { checkPoints, resample, roundHalfEven } from "./resample.js";
import { scoreSpelling } from "./scoring.js";
import { foldCase } from "./typing.js";

const FIELD_WIDTH = 40; // samples of the likelihood field across the letter area
const ADDED = 60; // byte of a word that the person would add
const NOTABLE = 0.05; // nats; a letter that costs less is not to blame, and shows as 0.0

/**
 * @typedef {object} LetterCost what a letter costs in the best alignment of its word
 * @property {string} letter
 * @property {number} frame where it is most likely
 * @property {number} cost minus the log-probability of its frames
 */

/**
 * @typedef {object} SeenLetter a letter of the best word, and what the network saw where it was swiped
 * @property {string} letter
 * @property {number} frame
 * @property {number} confidence its probability there
 * @property {number[][]} field the likelihood over the letter area, [rows][columns], 0 to 255
 */

/**
 * @typedef {object} Opinion what the matcher and the text before say of a word
 * @property {number | null} match the matcher's score; null where it was not asked
 * @property {number} match_points what that adds to the word's score
 * @property {number | null} gain what the text before adds, in nats; null where it has no say
 * @property {number} gain_points what that adds to the word's score
 */

/**
 * @typedef {object} MeantWord what became of the word that was meant
 * @property {string} word
 * @property {"first" | "outscored" | "pruned" | "out of lexicon" | "not typeable"} verdict a pruned word is in the
 *   lexicon or one of the person's own, and the beam gave it up
 * @property {number | null} best_score
 * @property {LetterCost[]} best_costs score and letters of the first candidate, to compare with
 * @property {number | null} rank its place among the candidates, from 1; null where the beam did not keep it
 * @property {number | null} would_rank the place that its score would give it
 * @property {number | null} score
 * @property {number | null} log_prob
 * @property {number | null} frequency as of a candidate; where no list has it, as if it were added
 * @property {LetterCost[]} costs
 * @property {number | null} gaps what the frames between its letters cost
 * @property {number | null} worst the index of the letter that costs most; null where none costs anything to speak of
 * @property {Opinion | null} opinion null where it has no score
 */

/**
 * @typedef {object} Explanation
 * @property {object[]} candidates the best words, best first
 * @property {string} literal the letters read without a lexicon
 * @property {number[]} gate for each frame, the probability that a letter is meant
 * @property {SeenLetter[]} letters of the first candidate
 * @property {boolean} asked whether the swipe was in doubt and the matcher compared its finalists
 * @property {Opinion | null} best of the first candidate
 * @property {MeantWord | null} meant null where no word was named
 * @property {number} none how likely none of the candidates is meant
 */

/**
 * @typedef {object} Question
 * @property {string | null} [word] the word that was meant, if it is known
 * @property {string | null} [context] the text before
 * @property {string} [prefix] letters that were tapped; a word that does not fit them was pruned
 * @property {string} [suffix]
 * @property {number} [k] candidates at the most
 */

/**
 * Explains a swipe.
 * @param {import("./keyboard.js").Keyboard} keyboard what decodes it
 * @param {number[][]} points the swipe, as `decode` takes it
 * @param {Question} [question]
 * @returns {Promise<Explanation>}
 */
export async function explain(keyboard, points, { word = null, context = null, prefix = "", suffix = "", k = 5 } = {}) {
  checkPoints(points);
  const affixes = keyboard.dictionary.affixes(prefix, suffix);
  const path = resample(points, keyboard.constants.path);
  const read = await keyboard.read(path, true);
  const swipe = { keyboard, points, path, read, context, affixes, classes: keyboard.trie.letters.length + 1 };
  const ranking = await rank(swipe, keyboard.find(points, read, affixes));
  const shown = ranking.candidates.slice(0, k);
  const first = shown[0];
  const meant = (word ?? "").trim();
  return {
    candidates: shown.map(({ word: written, score, logProb, probability, letters, frequency, literal, language }) => (
      { word: written, score, log_prob: logProb, probability, letters, frequency, literal, language })),
    literal: greedy(read.letters, keyboard.trie.letters),
    gate: Array.from(read.encoded.gate.data, (logit) => roundHalfEven(1e4 / (1 + Math.exp(-logit))) / 1e4),
    letters: first ? letterCosts(swipe, keyboard.typing.word(first.word)).costs.map((one) => seen(swipe, one)) : [],
    asked: ranking.asked,
    best: first ? opinion(ranking, first) : null,
    meant: meant ? await judge(swipe, ranking, meant) : null,
    none: Math.max(0, 1 - shown.reduce((sum, one) => sum + one.probability, 0)),
  };
}

/**
 * @typedef {object} Swipe
 * @property {import("./keyboard.js").Keyboard} keyboard
 * @property {number[][]} points
 * @property {Float32Array} path
 * @property {any} read what the networks say of it
 * @property {string | null} context
 * @property {{prefix: number[], suffix: number[]}} affixes
 * @property {number} classes letters and blank
 */

/** @typedef {{spellings: any[], candidates: any[], constants: any, asked: boolean, told: boolean}} Ranking */

/**
 * Ranks spellings as the keyboard does.
 * @param {Swipe} swipe
 * @param {any[]} spellings
 * @returns {Promise<Ranking>}
 */
async function rank({ keyboard, path, context }, spellings) {
  const matches = await keyboard.match(path, spellings);
  const finalists = keyboard.score(spellings, matches);
  const candidates = keyboard.choose(finalists, Infinity, context);
  return { spellings, candidates, constants: finalists.constants, asked: matches !== null, told: context !== null && keyboard.context !== null };
}

/**
 * @param {Ranking} ranking
 * @param {any} candidate one of its own
 * @returns {Opinion}
 */
function opinion({ constants, asked, told }, { match, gain }) {
  return {
    match: asked ? match : null,
    match_points: asked ? constants.matcher_weight * match : 0,
    gain: told ? gain : null,
    gain_points: told ? constants.context_weight * gain : 0,
  };
}

/**
 * Says what became of a word, in any case.
 * @param {Swipe} swipe
 * @param {Ranking} ranking
 * @param {string} word
 * @returns {Promise<MeantWord>}
 */
async function judge(swipe, ranking, word) {
  const { keyboard, read, classes } = swipe;
  const [first] = ranking.candidates;
  const labels = keyboard.typing.word(word);
  /** @type {MeantWord} */
  const meant = {
    word, verdict: "not typeable", best_score: first?.score ?? null,
    best_costs: first ? letterCosts(swipe, keyboard.typing.word(first.word)).costs : [],
    rank: null, would_rank: null, score: null, log_prob: null, frequency: null, costs: [], gaps: null, worst: null, opinion: null,
  };
  if (!labels.length || neededFrames(labels) > read.letters.length / classes) return meant;
  const { source, frequency } = findListed(keyboard, labels, word);
  const logProb = wordLogProb(Float64Array.from(read.letters, Math.exp), labels, classes);
  const { costs, gaps } = letterCosts(swipe, labels);
  Object.assign(meant, { log_prob: logProb, frequency, costs, gaps, worst: findWorst(costs) });
  const place = position(ranking.candidates.map((one) => one.word), word);
  if (place >= 0) return { ...placed(meant, ranking, place), verdict: place ? "outscored" : "first", rank: place + 1 };
  if (!source) return { ...meant, ...await scoreIfAdded(swipe, ranking, labels, logProb), verdict: "out of lexicon" };
  const tree = keyboard.dictionary.trees(swipe.affixes)[source];
  const node = tree?.holds(labels) ? tree.find(labels) : -1;
  if (!tree || node < 0) return { ...meant, verdict: "pruned" }; // other letters were tapped
  const added = complete(swipe, { source, tree, node, labels, logProb, frequency });
  const longer = await rank(swipe, [...ranking.spellings, ...added]);
  return { ...placed(meant, longer, position(longer.candidates.map((one) => one.word), word)), verdict: "pruned" };
}

/**
 * A word with its place in a ranking, counted from 0, and what goes with it.
 * @param {MeantWord} meant
 * @param {Ranking} ranking
 * @param {number} place
 * @returns {MeantWord}
 */
function placed(meant, ranking, place) {
  const one = ranking.candidates[place];
  return { ...meant, would_rank: place + 1, score: one.score, opinion: opinion(ranking, one) };
}

/**
 * Where a word is listed, in any case, and its byte: in the lexicon, among the person's own, or nowhere.
 * @param {import("./keyboard.js").Keyboard} keyboard
 * @param {number[]} labels
 * @param {string} word
 * @returns {{source: "lexicon" | "own" | null, frequency: number}}
 */
function findListed({ dictionary, trie, lexicon }, labels, word) {
  const entries = trie.wordsOf(labels);
  const entry = position(entries.map((index) => lexicon.word(index)), word);
  if (entry >= 0) return { source: LEXICON, frequency: lexicon.frequencies[entries[entry]] };
  const own = position([...dictionary.vocabulary.uses.keys()], word);
  return own < 0 ? { source: null, frequency: ADDED } : { source: OWN, frequency: roundHalfEven(dictionary.vocabulary.bytes()[own]) };
}

/**
 * What a word that no list has would score if the person added it, and the place that this would give it.
 * @param {Swipe} swipe
 * @param {Ranking} ranking
 * @param {number[]} labels
 * @param {number} logProb
 * @returns {Promise<{score: number, would_rank: number}>}
 */
async function scoreIfAdded(swipe, ranking, labels, logProb) {
  const { keyboard } = swipe;
  const tree = { letters: keyboard.trie.letters };
  const [word] = complete(swipe, { source: OWN, tree, node: labels.length, labels, logProb, frequency: ADDED });
  const others = ranking.spellings.filter(({ source }) => source !== OWN);
  const matches = await keyboard.match(swipe.path, [...others, word]);
  const constants = matches ? keyboard.scoring.matched : keyboard.scoring;
  const score = scoreSpelling(word, ADDED, constants) + (matches ? constants.matcher_weight * matches[others.length] : 0);
  return { score, would_rank: 1 + ranking.candidates.filter((one) => one.score > score).length };
}

/**
 * A spelling that the beam did not find, weighed and measured.
 * @param {Swipe} swipe
 * @param {any} found
 * @returns {any[]} one
 */
function complete({ keyboard, points, read }, found) {
  const spelling = { ...found, logProb: Math.fround(found.logProb), fluency: 0, location: 0, shape: 0 };
  return keyboard.measure(points, keyboard.weigh([spelling], read));
}

/**
 * What each letter of a word costs in its best alignment, and what the frames between them cost.
 * @param {Swipe} swipe
 * @param {number[]} labels
 * @returns {{costs: LetterCost[], gaps: number}}
 */
function letterCosts({ keyboard, read, classes }, labels) {
  const { frames, costs, gaps } = align(read.letters, labels, classes);
  return { costs: labels.map((label, i) => ({ letter: keyboard.trie.letters[label], frame: frames[i], cost: costs[i] })), gaps };
}

/**
 * The letter that costs most, if that is anything to speak of.
 * @param {LetterCost[]} costs
 * @returns {number | null}
 */
function findWorst(costs) {
  const most = Math.max(...costs.map(({ cost }) => cost));
  return most >= NOTABLE ? costs.findIndex(({ cost }) => cost === most) : null;
}

/**
 * @param {Swipe} swipe
 * @param {LetterCost} one
 * @returns {SeenLetter}
 */
function seen({ keyboard, read, classes }, { letter, frame }) {
  const { coefficients, frames } = read.encoded;
  const size = coefficients.data.length / frames;
  return {
    letter,
    frame,
    confidence: Math.exp(read.letters[frame * classes + keyboard.trie.letters.indexOf(letter)]),
    field: field(coefficients.data.subarray(frame * size, (frame + 1) * size), keyboard.layout.aspect),
  };
}

/**
 * The likelihood over the letter area (eq. 1 and 2), 255 at the best place.
 * @param {Float32Array} coefficients [N * N], of cos(pi u x) cos(pi v y), v fastest
 * @param {number} aspect height over width
 * @param {number} [width] samples across
 * @returns {number[][]} [rows][columns], whole numbers
 */
export function field(coefficients, aspect, width = FIELD_WIDTH) {
  const resolution = Math.round(Math.sqrt(coefficients.length));
  const height = Math.max(4, Math.min(roundHalfEven(width * aspect), 2 * width));
  const waves = (/** @type {number} */ size) => Array.from({ length: size }, (_, i) => (
    Array.from({ length: resolution }, (__, order) => Math.cos((Math.PI * order * (i + 0.5)) / size))));
  const across = waves(width).map((wave) => ( // [width][v]: the sums over u
    Array.from({ length: resolution }, (_, v) => wave.reduce((sum, one, u) => sum + one * coefficients[u * resolution + v], 0))));
  const logits = waves(height).map((wave) => across.map((column) => column.reduce((sum, one, v) => sum + one * wave[v], 0)));
  const highest = Math.max(...logits.flat());
  return logits.map((row) => row.map((logit) => roundHalfEven(255 * Math.exp(logit - highest))));
}

/**
 * The best class of every frame, repeats and blanks dropped: letters with no lexicon.
 * @param {Float32Array} logProbs [frames, letters + 1], blank last
 * @param {string[]} letters
 * @returns {string}
 */
function greedy(logProbs, letters) {
  const classes = letters.length + 1;
  const read = [];
  let last = -1;
  for (let start = 0; start < logProbs.length; start += classes) {
    let best = 0;
    for (let label = 1; label < classes; label += 1) if (logProbs[start + label] > logProbs[start + best]) best = label;
    if (best !== last && best < letters.length) read.push(letters[best]);
    last = best;
  }
  return read.join("");
}

/**
 * The index of a word as written, else in another case; -1 where it is missing.
 * @param {string[]} words
 * @param {string} word
 * @returns {number}
 */
function position(words, word) {
  const exact = words.indexOf(word);
  const wanted = foldCase(word);
  return exact >= 0 ? exact : words.findIndex((one) => foldCase(one) === wanted);
}
