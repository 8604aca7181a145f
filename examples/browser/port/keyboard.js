// A keyboard: all parts of a bundle together. Points in, candidates out; nothing leaves the page.

import { Beam } from "./beam.js";
import { openBundle } from "./bundle.js";
import { readContext } from "./context.js";
import { Ruler, median } from "./geometry.js";
import { contenders, letterKeys, spellKeys, spread, toKeyWidths } from "./match.js";
import { checkPoints, resample } from "./resample.js";
import { reweigh } from "./rescore.js";
import { choose, isGeometric, score } from "./scoring.js";
import { readTrie } from "./trie.js";

const MAX_KEYS = 64; // of the exported encoder
const NOT_LOOKED_UP = -2; // of a word's number in the context

export class Keyboard {
  // read(name) -> Promise of an ArrayBuffer; ort: onnxruntime-web.
  static async load(read, ort) {
    const bundle = await openBundle(read);
    const names = ["layout.json", "constants.json"];
    const [layout, constants] = await Promise.all(names.map((name) => bundle.json(name)));
    const { models, context: before } = bundle.manifest;
    const session = async (model) => model
      && ort.InferenceSession.create(new Uint8Array(await bundle.file(model.file)), { executionProviders: ["wasm"] });
    const trie = readTrie(await bundle.file("trie.bin"));
    const sessions = {};
    for (const name of ["encoder", "decoder", "matcher"]) sessions[name] = await session(models[name]);
    const context = before ? readContext(await bundle.file(before.file), constants.context) : null;
    return new Keyboard({ bundle, layout, constants, trie, sessions, context, ort });
  }

  constructor({ bundle, layout, constants, trie, sessions, context, ort }) {
    Object.assign(this, { bundle, layout, constants, trie, sessions, context, ort });
    this.groups = trie.letters.map((letter) => layout.keys.flatMap((key, i) => (key.letter === letter ? [i] : [])));
    this.beam = new Beam(trie, constants.search, constants.scoring);
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

  /**
   * The k words a swipe most likely means, best first.
   * @param {number[][]} points [[x, y, t_ms], ...] over the letter area
   * @param {number} [k]
   * @param {string | null} [context] the text before the swipe; "" is the beginning of a text, null is not known
   */
  async decode(points, k = 5, context = null) {
    checkPoints(points);
    const path = resample(points, this.constants.path);
    const hypotheses = this.find(await this.read(path));
    const distances = this.measure(points, hypotheses);
    const matches = await this.match(path, hypotheses, distances);
    return this.choose(this.score(hypotheses, distances, matches), k, context);
  }

  // The networks' emissions, letter by letter; corrected is null where the bundle has no decoder.
  async read(path) {
    const encoded = await this.encode(path);
    const corrected = this.sessions.decoder ? this.byLetter(await this.correct(encoded)) : null;
    return { encoded, letters: this.byLetter(encoded.logProbs), corrected };
  }

  // The finalists under the encoder's emissions, weighed by the decoder too. -> [{node, logProb}]
  find({ letters, corrected }) {
    const found = this.beam.search(letters);
    return corrected ? reweigh(found, corrected, this.trie, this.constants.scoring.decoder_share) : found;
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

  // How well a swipe follows each finalist's keys. -> [[location, shape], ...], null where the scoring has no use for it.
  measure(points, hypotheses) {
    if (!isGeometric(this.constants.scoring)) return null;
    this.ruler.measure(points);
    return hypotheses.map(({ node }) => {
      const labels = this.trie.spellLabels(node);
      return this.ruler.distances(labels.filter((label, i) => label !== labels[i - 1])); // doubled ones once
    });
  }

  // Asks the matcher, if the swipe is in doubt, how well it fits each finalist. -> [match, ...], null where it is not asked.
  async match(path, hypotheses, distances) {
    const { scoring, matcher } = this.constants;
    if (!this.sessions.matcher || !scoring.matched) return null;
    const compared = contenders(hypotheses, distances, this.trie, scoring, matcher);
    if (!compared) return null;
    const count = path.length / 2;
    const places = Array.from({ length: count }, (_, i) => toKeyWidths(path[i], path[count + i], this.keyWidth, this.layout.aspect));
    const words = compared.map((i) => this.trie.spellLabels(hypotheses[i].node));
    const { keys, mask, longest } = spellKeys(words, letterKeys(this.letterKeys, places));
    const { scores } = await this.#run(this.sessions.matcher, {
      path: new this.ort.Tensor("float32", Float32Array.from(places.flat()), [1, count, 2]),
      keys: new this.ort.Tensor("float32", keys, [1, words.length, longest, 2]),
      mask: new this.ort.Tensor("bool", mask, [1, words.length, longest]),
    });
    return spread(scores.data, compared, hypotheses.length);
  }

  // Scores every word of the finalists as if the swipe stood alone. -> {words, constants}
  score(hypotheses, distances, matches) {
    return score(hypotheses, distances, matches, this.trie, this.constants.scoring);
  }

  // The best k of some finalists after a text, null where it is not known.
  choose(finalists, k, context = null) {
    return choose(finalists, this.#gains(finalists.words, context), this.trie, k);
  }

  #gains(words, text) {
    if (text === null || !this.context) return words.map(() => 0);
    const numbers = words.map(({ index }) => {
      if (this.wordNumbers[index] === NOT_LOOKED_UP) this.wordNumbers[index] = this.context.number(this.trie.word(index));
      return this.wordNumbers[index];
    });
    return this.context.gains(this.context.after(text), numbers);
  }
}
