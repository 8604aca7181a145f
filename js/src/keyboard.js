// A keyboard: all parts of a bundle together. Points in, candidates out; nothing leaves the page.

import { Beam } from "./beam.js";
import { BundleError, openBundle } from "./bundle.js";
import { readContext } from "./context.js";
import { Dictionary, NO_AFFIXES } from "./dictionary.js";
import { Ruler, median } from "./geometry.js";
import { Fluency } from "./literal.js";
import { contenders, letterKeys, spellKeys, spread, toKeyWidths } from "./match.js";
import { checkPoints, resample } from "./resample.js";
import { reweigh } from "./rescore.js";
import { choose, isGeometric, score, scoreSpelling, shares } from "./scoring.js";
import { readTrie } from "./trie.js";
import { Typing } from "./typing.js";
import { Vocabulary, VocabularyError } from "./vocabulary.js";

const MAX_KEYS = 64; // of the exported encoder
const NOT_LOOKED_UP = -2; // of a word's number in the context

export class Keyboard {
  // read(name) -> Promise of an ArrayBuffer; ort: onnxruntime-web.
  static async load(read, ort) {
    const bundle = await openBundle(read);
    const names = ["layout.json", "constants.json"];
    const [layout, constants] = await Promise.all(names.map((name) => bundle.json(name)));
    const { models, context: before, fluency: grams } = bundle.manifest;
    if (constants.scoring.fluency_weight && !grams) throw new BundleError("the manifest names no fluency, which the constants want");
    const session = async (model) => model
      && ort.InferenceSession.create(new Uint8Array(await bundle.file(model.file)), { executionProviders: ["wasm"] });
    const trie = readTrie(await bundle.file("trie.bin"));
    const sessions = {};
    for (const name of ["encoder", "decoder", "matcher"]) sessions[name] = await session(models[name]);
    const context = before ? readContext(await bundle.file(before.file), constants.context) : null;
    const fluency = grams ? new Fluency(new Uint8Array(await bundle.file(grams.file)), grams.order, trie.letters.length + 1) : null;
    return new Keyboard({ bundle, layout, constants, trie, sessions, context, fluency, ort });
  }

  constructor({ bundle, layout, constants, trie, sessions, context, fluency, ort }) {
    Object.assign(this, { bundle, layout, constants, trie, sessions, context, fluency, ort });
    this.groups = trie.letters.map((letter) => layout.keys.flatMap((key, i) => (key.letter === letter ? [i] : [])));
    const beam = (search) => new Beam(trie.letters.length, search, constants.scoring);
    const width = Math.min(constants.search.width, constants.vocabulary.width);
    this.beams = { listed: beam(constants.search), own: beam({ ...constants.search, width }) };
    this.typing = new Typing(trie.letters, constants.typed_as);
    this.vocabulary = new Vocabulary(constants.vocabulary);
    this.ruler = new Ruler(layout, this.groups, constants.geometry);
    const centres = new Float32Array(2 * MAX_KEYS);
    const mask = new Uint8Array(MAX_KEYS);
    layout.keys.forEach((key, i) => { centres.set([key.cx, key.cy], 2 * i); mask[i] = 1; });
    this.keys = new ort.Tensor("float32", centres, [1, MAX_KEYS, 2]);
    this.mask = new ort.Tensor("bool", mask, [1, MAX_KEYS]);
    this.last = Promise.resolve();
    this.keyWidth = 2 * median(layout.keys.map((key) => key.rx));
    this.letterKeys = this.groups.map((group) => group.map((i) => toKeyWidths(layout.keys[i].cx, layout.keys[i].cy, this.keyWidth, layout.aspect)));
    this.wordNumbers = new Int32Array(trie.frequencies.length).fill(NOT_LOOKED_UP);
  }

  /** The person's own words, in memory; `Vocabulary.from` reads them from JSON. */
  get vocabulary() {
    return this.dictionary.vocabulary;
  }

  set vocabulary(vocabulary) {
    const { trie, typing, fluency, beams, constants } = this;
    this.dictionary = new Dictionary({ trie, typing, vocabulary, fluency, beams, constants });
  }

  /** Adds a word to the person's own, or counts it up; it can be written at once. */
  learn(word) {
    if (!this.typing.word(word).length) throw new VocabularyError(`"${word}" has no letter of the layout`);
    this.vocabulary.learn(word);
  }

  /** Removes a word from the person's own. -> whether it was there. Words of the lexicon stay. */
  forget(word) {
    return this.vocabulary.forget(word);
  }

  /**
   * The k words a swipe most likely means, best first; `none` of the list says how likely none of them is right.
   * @param {number[][]} points [[x, y, t_ms], ...] over the letter area
   * @param {number} [k]
   * @param {string | null} [context] the text before the swipe; "" is the beginning of a text, null is not known
   * @param {{prefix?: string, suffix?: string}} [tapped] letters that the words must begin and end with
   */
  async decode(points, k = 5, context = null, { prefix = "", suffix = "" } = {}) {
    checkPoints(points);
    const affixes = this.dictionary.affixes(prefix, suffix);
    const path = resample(points, this.constants.path);
    const spellings = this.find(points, await this.read(path), affixes);
    return this.choose(this.score(spellings, await this.match(path, spellings)), k, context);
  }

  // The networks' emissions, letter by letter; corrected is null where the bundle has no decoder.
  async read(path) {
    const encoded = await this.encode(path);
    const corrected = this.sessions.decoder ? this.byLetter(await this.correct(encoded)) : null;
    return { encoded, letters: this.byLetter(encoded.logProbs), corrected };
  }

  // The spellings that a swipe may mean, measured: words, and literals where no word is plain to see.
  find(points, read, affixes = NO_AFFIXES) {
    const words = this.measure(points, this.#weigh(this.dictionary.search(read.letters, affixes), read));
    if (!this.constants.scoring.fluency_weight || this.#isPlain(words)) return words;
    return [...words, ...this.measure(points, this.#weigh(this.dictionary.read(read.letters, affixes), read))];
  }

  // Mixes the decoder's log-probabilities into the encoder's.
  #weigh(spellings, { corrected }) {
    return corrected ? reweigh(spellings, corrected, this.constants.scoring.decoder_share) : spellings;
  }

  // Whether a word is so clearly read that literals need not be looked for.
  #isPlain(spellings) {
    if (!spellings.length) return false;
    const { scoring, literals } = this.constants;
    const scores = spellings.map((spelling) => scoreSpelling(spelling, spelling.frequency, scoring));
    const best = scores.indexOf(Math.max(...scores));
    return spellings[best].logProb >= literals.plain && shares(scores, scoring)[best] >= scoring.doubt;
  }

  // -> {logProbs: Float32Array [frames, keys + 1], blank last; frames, coefficients, gate}
  async encode(path) {
    const features = new this.ort.Tensor("float32", path, [1, 2, path.length / 2]);
    const outputs = await this.#run(this.sessions.encoder, { features, layout_keys: this.keys, layout_mask: this.mask });
    const { data, dims: [, frames, columns] } = outputs.log_emissions;
    const count = this.layout.keys.length;
    const logProbs = new Float32Array(frames * (count + 1));
    for (let t = 0; t < frames; t += 1) {
      logProbs.set(data.subarray(t * columns, t * columns + count), t * (count + 1));
      logProbs[t * (count + 1) + count] = data[(t + 1) * columns - 1]; // blank follows the padded keys
    }
    return { logProbs, frames, coefficients: outputs.coefficients, gate: outputs.gate };
  }

  // The decoder's correction of the encoder's emissions. -> [frames, keys + 1]
  async correct({ logProbs, frames, coefficients, gate }) {
    const { columns } = this.bundle.manifest.models.decoder; // for each of the decoder's, which of ours
    const width = columns.length;
    const ordered = logProbs.map((_, i) => logProbs[i - (i % width) + columns[i % width]]);
    const emissions = new this.ort.Tensor("float32", ordered, [1, frames, width]);
    const { log_probs: found } = await this.#run(this.sessions.decoder, { log_emissions: emissions, coefficients, gate });
    const corrected = new Float32Array(logProbs.length);
    found.data.forEach((value, i) => { corrected[i - (i % width) + columns[i % width]] = value; });
    return corrected;
  }

  // A session runs one swipe at a time.
  async #run(session, feeds) {
    const running = this.last.then(() => session.run(feeds));
    this.last = running.catch(() => {});
    return running;
  }

  // Adds up the keys of each letter. [frames, keys + 1] -> [frames, letters + 1]
  byLetter(logProbs) {
    const count = this.layout.keys.length;
    if (this.groups.length === count) return logProbs;
    const frames = logProbs.length / (count + 1);
    const groups = [...this.groups, [count]];
    const summed = new Float32Array(frames * groups.length);
    for (let t = 0; t < frames; t += 1) {
      const frame = logProbs.subarray(t * (count + 1), (t + 1) * (count + 1));
      groups.forEach((group, letter) => {
        const highest = Math.max(...group.map((key) => frame[key]));
        const sum = group.reduce((total, key) => total + Math.exp(frame[key] - highest), 0);
        summed[t * groups.length + letter] = highest + Math.log(sum);
      });
    }
    return summed;
  }

  // How well a swipe follows each spelling's keys, where the scoring has a use for it.
  measure(points, spellings) {
    if (!isGeometric(this.constants.scoring)) return spellings;
    this.ruler.measure(points);
    return spellings.map((spelling) => {
      const [location, shape] = this.ruler.distances(spelling.labels.filter((label, i) => label !== spelling.labels[i - 1])); // doubled ones once
      return { ...spelling, location, shape };
    });
  }

  // Asks the matcher, if the swipe is in doubt, how well it fits each spelling. -> [match, ...], null where it is not asked.
  async match(path, spellings) {
    const { scoring, matcher } = this.constants;
    if (!this.sessions.matcher || !scoring.matched) return null;
    const compared = contenders(spellings, scoring, matcher);
    if (!compared) return null;
    const count = path.length / 2;
    const places = Array.from({ length: count }, (_, i) => toKeyWidths(path[i], path[count + i], this.keyWidth, this.layout.aspect));
    const words = compared.map((i) => spellings[i].labels);
    const { keys, mask, longest } = spellKeys(words, letterKeys(this.letterKeys, places));
    const { scores } = await this.#run(this.sessions.matcher, {
      path: new this.ort.Tensor("float32", Float32Array.from(places.flat()), [1, count, 2]),
      keys: new this.ort.Tensor("float32", keys, [1, words.length, longest, 2]),
      mask: new this.ort.Tensor("bool", mask, [1, words.length, longest]),
    });
    return spread(scores.data, compared, spellings.length);
  }

  // Scores every word of the spellings as if the swipe stood alone. -> {words, constants}
  score(spellings, matches) {
    return score(spellings, this.dictionary.forms(spellings), matches, this.constants.scoring);
  }

  // The best k of some finalists after a text, null where it is not known.
  choose(finalists, k, context = null) {
    return choose(finalists, this.#gains(finalists.words, context), (word) => this.#write(word), k);
  }

  #write({ place, text }) {
    return text ?? this.trie.word(place);
  }

  #gains(words, text) {
    if (text === null || !this.context) return words.map(() => 0);
    return this.context.after(text).gains(words.map((word) => this.#number(word)));
  }

  // The number of a word in the context; that of a word of the lexicon is looked up once.
  #number({ place, text }) {
    if (text !== null) return this.context.number(text);
    if (this.wordNumbers[place] === NOT_LOOKED_UP) this.wordNumbers[place] = this.context.number(this.trie.word(place));
    return this.wordNumbers[place];
  }
}
