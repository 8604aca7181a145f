// Compares a keyboard with its bundle's golden vectors, stage by stage, and times it.

import { resample } from "./resample.js";
import { Vocabulary } from "./vocabulary.js";

const WARM_UP = 20; // swipes that are not timed
const DEEP = 10; // log-emissions below minus this are compared relative to their size

export async function readGolden(keyboard) {
  const text = await keyboard.bundle.text(keyboard.bundle.manifest.golden.file);
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

// -> {swipes; asked, literal: about how many the matcher was asked, and in how many literals were found; worst and limits by stage; failures: [text]; ms, encoderMs}
export async function compare(keyboard, records) {
  const { path, emissions, corrected, matches, gains, scores, probabilities } = keyboard.bundle.manifest.golden.tolerances;
  const limits = { path, emissions, letters: emissions, corrected, distances: scores, matches, gains, scores, probabilities };
  for (const [stage, field] of Object.entries({ letters: "letters", corrected: "corrected", matches: "matches", gains: "context" })) {
    if (!records.some((record) => field in record)) delete limits[stage];
  }
  const worst = Object.fromEntries(Object.keys(limits).map((stage) => [stage, 0]));
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
  const literal = records.filter(({ candidates }) => candidates.some((one) => one.literal)).length;
  return { swipes: records.length, asked, literal, worst, limits, failures, ...(await time(keyboard, records)) };
}

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
  const stages = {
    path: largest(path, record.path.flat()),
    emissions: largest(read.encoded.logProbs, record.emissions.flat(), DEEP),
    letters: record.letters ? largest(read.letters, record.letters.flat(), DEEP) : 0,
    corrected: record.corrected ? largest(read.corrected, record.corrected.flat(), DEEP) : 0,
    matches: matches && record.matches ? matchesApart(spellings, matches, record.matches) : 0,
    gains: 0, scores: 0, distances: 0, probabilities: Math.abs(none - record.none),
  };
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
    const far = (name) => (name in expected ? Math.abs(got[name] - expected[name]) : 0);
    stages.scores = Math.max(stages.scores, far("score"), far("fluency"), Math.abs(got.logProb - expected.log_prob));
    stages.matches = Math.max(stages.matches, far("match"));
    stages.gains = Math.max(stages.gains, far("gain"));
    stages.distances = Math.max(stages.distances, far("location"), far("shape"));
    stages.probabilities = Math.max(stages.probabilities, far("probability"));
  }
  return { stages, words };
}

// The person's own words of a record, each with its uses. A word that is used in the future has not faded.
function ownWords(keyboard, own) {
  const vocabulary = new Vocabulary(keyboard.constants.vocabulary);
  for (const [word, uses] of Object.entries(own)) vocabulary.learn(word, uses, new Date(9999, 11, 31));
  return vocabulary;
}

// expected: {letters: match} of the spellings that were compared.
function matchesApart(spellings, matches, expected) {
  const got = new Map();
  spellings.forEach(({ tree, node }, i) => {
    const letters = tree.spell(node);
    got.set(letters, Math.max(matches[i], got.get(letters) ?? -Infinity)); // an own word may be typed as a listed one
  });
  return Object.entries(expected).reduce((most, [letters, match]) => Math.max(most, Math.abs((got.get(letters) ?? Infinity) - match)), 0);
}

function largest(got, expected, deep = Infinity) {
  if (got.length !== expected.length) return Infinity;
  const far = (value, i) => Math.abs(value - got[i]) / Math.max(1, Math.abs(value) / deep);
  return expected.reduce((most, value, i) => Math.max(most, far(value, i)), 0);
}

// Medians over ordinary swipes: one whole decode, and the encoder in it.
async function time(keyboard, records) {
  keyboard.vocabulary = ownWords(keyboard, {});
  const swipes = records.filter((record) => record.kind === "swipe");
  const [whole, encoder] = [[], []];
  for (const [i, { points }] of swipes.entries()) {
    const path = resample(points, keyboard.constants.path);
    const start = performance.now();
    await keyboard.encode(path);
    const between = performance.now();
    await keyboard.decode(points);
    if (i < WARM_UP && swipes.length > 2 * WARM_UP) continue;
    encoder.push(between - start);
    whole.push(performance.now() - between);
  }
  return { ms: median(whole), encoderMs: median(encoder) };
}

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
