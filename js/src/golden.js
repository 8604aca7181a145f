// Compares a keyboard with its bundle's golden vectors, stage by stage, and times it.

import { BundleError } from "./bundle.js";
import { resample } from "./resample.js";
import { Vocabulary } from "./vocabulary.js";

const WARM_UP = 20; // swipes that are not timed
const DEEP = 10; // log-emissions below minus this are compared relative to their size

/**
 * @typedef {import("./keyboard.js").Keyboard} Keyboard
 * @typedef {any} GoldenRecord a line of golden.jsonl, parsed
 */

/**
 * The golden vectors of a keyboard's bundle.
 * @param {Keyboard} keyboard
 * @returns {Promise<GoldenRecord[]>}
 */
export async function readGolden(keyboard) {
  const bundle = bundleOf(keyboard);
  const text = await bundle.text(bundle.manifest.golden.file);
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

/** @param {Keyboard} keyboard */
function bundleOf({ bundle }) {
  if (!bundle) throw new BundleError("only a bundle has golden vectors");
  return bundle;
}

/**
 * @typedef {object} Report
 * @property {number} swipes
 * @property {number} asked about how many the matcher was asked
 * @property {number} literal in how many literals were found
 * @property {Record<string, number>} worst difference by stage
 * @property {Record<string, number>} limits
 * @property {string[]} failures
 * @property {number} ms the median of a decode
 * @property {number} encoderMs and of the encoder in it
 */

/**
 * @param {Keyboard} keyboard
 * @param {GoldenRecord[]} records
 * @returns {Promise<Report>}
 */
export async function compare(keyboard, records) {
  const { path, emissions, corrected, matches, gains, scores, probabilities } = bundleOf(keyboard).manifest.golden.tolerances;
  /** @type {Record<string, number>} */
  const limits = { path, emissions, letters: emissions, corrected, distances: scores, matches, gains, scores, probabilities };
  for (const [stage, field] of Object.entries({ letters: "letters", corrected: "corrected", matches: "matches", gains: "context" })) {
    if (!records.some((record) => field in record)) delete limits[stage];
  }
  const worst = Object.fromEntries(Object.keys(limits).map((stage) => [stage, 0]));
  /** @type {string[]} */
  const failures = [];
  for (const [i, record] of records.entries()) {
    const far = await differences(keyboard, record);
    for (const [stage, limit] of Object.entries(limits)) {
      worst[stage] = Math.max(worst[stage], far.stages[stage]);
      if (!(far.stages[stage] <= limit)) failures.push(`swipe ${i} (${record.kind}): ${stage} differ by ${far.stages[stage]}, more than ${limit}`);
    }
    failures.push(...far.words.map((text) => `swipe ${i} (${record.kind}): ${text}`));
  }
  const asked = records.filter((record) => record.matches).length;
  const literal = records.filter(({ candidates }) => candidates.some((/** @type {any} */ one) => one.literal)).length;
  return { swipes: records.length, asked, literal, worst, limits, failures, ...(await time(keyboard, records)) };
}

/**
 * How far a keyboard is from a record.
 * @param {Keyboard} keyboard
 * @param {GoldenRecord} record
 */
async function differences(keyboard, record) {
  keyboard.vocabulary = ownWords(keyboard, record.own ?? {});
  const path = resample(record.points, keyboard.constants.path);
  const read = await keyboard.read(path);
  const affixes = keyboard.dictionary.affixes(record.prefix ?? "", record.suffix ?? "");
  const spellings = keyboard.find(record.points, read, affixes);
  const matches = await keyboard.match(path, spellings);
  const finalists = keyboard.score(spellings, matches);
  const found = keyboard.choose(finalists, Infinity, record.context);
  const none = keyboard.choose(finalists, record.candidates.length, record.context).none;
  /** @type {Record<string, number>} */
  const stages = {
    path: largest(path, record.path.flat()),
    emissions: largest(read.encoded.logProbs, record.emissions.flat(), DEEP),
    letters: record.letters ? largest(read.letters, record.letters.flat(), DEEP) : 0,
    corrected: record.corrected ? largest(read.corrected ?? [], record.corrected.flat(), DEEP) : 0,
    matches: matches && record.matches ? matchesApart(spellings, matches, record.matches) : 0,
    gains: 0, scores: 0, distances: 0, probabilities: Math.abs(none - record.none),
  };
  /** @type {string[]} */
  const words = [];
  if (Boolean(matches) !== Boolean(record.matches)) words.push(matches ? "asks the matcher" : "does not ask the matcher");
  if (found[0]?.word !== record.candidates[0]?.word) words.push(`reads ${found[0]?.word}, not ${record.candidates[0]?.word}`);
  for (const expected of record.candidates) {
    const got = found.find((one) => one.word === expected.word);
    if (!got) {
      words.push(`lacks ${expected.word}`);
      continue;
    }
    if (got.letters !== expected.letters || got.frequency !== expected.frequency) words.push(`misspells ${expected.word}`);
    if (got.literal !== Boolean(expected.literal)) words.push(`${got.literal ? "has no" : "has a"} list with ${expected.word}`);
    /** @type {(name: "score" | "fluency" | "match" | "gain" | "location" | "shape" | "probability") => number} */
    const far = (name) => (name in expected ? Math.abs(got[name] - expected[name]) : 0);
    stages.scores = Math.max(stages.scores, far("score"), far("fluency"), Math.abs(got.logProb - expected.log_prob));
    stages.matches = Math.max(stages.matches, far("match"));
    stages.gains = Math.max(stages.gains, far("gain"));
    stages.distances = Math.max(stages.distances, far("location"), far("shape"));
    stages.probabilities = Math.max(stages.probabilities, far("probability"));
  }
  return { stages, words };
}

/**
 * The person's own words of a record, each with its uses. A word that is used in the future has not faded.
 * @param {Keyboard} keyboard
 * @param {Record<string, number>} own
 */
function ownWords(keyboard, own) {
  const vocabulary = new Vocabulary(keyboard.constants.vocabulary);
  for (const [word, uses] of Object.entries(own)) vocabulary.learn(word, uses, new Date(9999, 11, 31));
  return vocabulary;
}

/**
 * @param {import("./dictionary.js").Spelling[]} spellings
 * @param {number[]} matches of each
 * @param {Record<string, number>} expected by the letters of the spellings that were compared
 */
function matchesApart(spellings, matches, expected) {
  const got = new Map();
  spellings.forEach(({ tree, node }, i) => {
    const letters = tree.spell(node);
    got.set(letters, Math.max(matches[i], got.get(letters) ?? -Infinity)); // an own word may be typed as a listed one
  });
  return Object.entries(expected).reduce((most, [letters, match]) => Math.max(most, Math.abs((got.get(letters) ?? Infinity) - match)), 0);
}

/**
 * @param {ArrayLike<number>} got
 * @param {number[]} expected
 * @param {number} [deep] numbers beyond this are compared relative to their size
 */
function largest(got, expected, deep = Infinity) {
  if (got.length !== expected.length) return Infinity;
  const far = (/** @type {number} */ value, /** @type {number} */ i) => Math.abs(value - got[i]) / Math.max(1, Math.abs(value) / deep);
  return expected.reduce((most, value, i) => Math.max(most, far(value, i)), 0);
}

/**
 * Medians over ordinary swipes: one whole decode, and the encoder in it.
 * @param {Keyboard} keyboard
 * @param {GoldenRecord[]} records
 */
async function time(keyboard, records) {
  keyboard.vocabulary = ownWords(keyboard, {});
  const swipes = records.filter((record) => record.kind === "swipe");
  /** @type {number[]} */
  const whole = [];
  /** @type {number[]} */
  const encoder = [];
  for (const [i, { points }] of swipes.entries()) {
    const path = resample(points, keyboard.constants.path);
    const start = performance.now();
    await keyboard.reader.encode(path);
    const between = performance.now();
    await keyboard.decode(points);
    if (i < WARM_UP && swipes.length > 2 * WARM_UP) continue;
    encoder.push(between - start);
    whole.push(performance.now() - between);
  }
  return { ms: median(whole), encoderMs: median(encoder) };
}

/** @param {number[]} values */
function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
