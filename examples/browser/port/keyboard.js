// A keyboard: all parts of a bundle together. Points in, candidates out; nothing leaves the page.

import { Beam } from "./beam.js";
import { openBundle } from "./bundle.js";
import { Ruler } from "./geometry.js";
import { checkPoints, resample } from "./resample.js";
import { reweigh } from "./rescore.js";
import { rank } from "./scoring.js";
import { readTrie } from "./trie.js";

const MAX_KEYS = 64; // of the exported encoder

export class Keyboard {
  // read(name) -> Promise of an ArrayBuffer; ort: onnxruntime-web.
  static async load(read, ort) {
    const bundle = await openBundle(read);
    const names = ["layout.json", "constants.json"];
    const [layout, constants] = await Promise.all(names.map((name) => bundle.json(name)));
    const { encoder, decoder } = bundle.manifest.models;
    const session = async (model) => model
      && ort.InferenceSession.create(new Uint8Array(await bundle.file(model.file)), { executionProviders: ["wasm"] });
    const trie = readTrie(await bundle.file("trie.bin"));
    const sessions = { encoder: await session(encoder), decoder: await session(decoder) };
    return new Keyboard({ bundle, layout, constants, trie, sessions, ort });
  }

  constructor({ bundle, layout, constants, trie, sessions, ort }) {
    Object.assign(this, { bundle, layout, constants, trie, sessions, ort });
    this.groups = trie.letters.map((letter) => layout.keys.flatMap((key, i) => (key.letter === letter ? [i] : [])));
    this.beam = new Beam(trie, constants.search, constants.scoring);
    this.ruler = new Ruler(layout, this.groups, constants.geometry);
    const centres = new Float32Array(2 * MAX_KEYS);
    const mask = new Uint8Array(MAX_KEYS);
    layout.keys.forEach((key, i) => { centres.set([key.cx, key.cy], 2 * i); mask[i] = 1; });
    this.keys = new ort.Tensor("float32", centres, [1, MAX_KEYS, 2]);
    this.mask = new ort.Tensor("bool", mask, [1, MAX_KEYS]);
    this.last = Promise.resolve();
  }

  // The k words a swipe most likely means, best first. points: [[x, y, t_ms], ...] over the letter area.
  async decode(points, k = 5) {
    checkPoints(points);
    return this.rank(points, this.find(await this.read(resample(points, this.constants.path))), k);
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

  rank(points, hypotheses, k) {
    const { scoring } = this.constants;
    const geometric = scoring.location_weight !== 0 || scoring.shape_weight !== 0;
    if (geometric) this.ruler.measure(points);
    return rank(hypotheses, this.trie, scoring, geometric ? (node) => this.ruler.distances(this.#labels(node)) : () => [0, 0], k);
  }

  // The letters of a node as labels, doubled ones once.
  #labels(node) {
    const labels = [];
    for (let at = node; at > 0; at = this.trie.parents[at]) {
      if (labels.at(-1) !== this.trie.labels[at]) labels.push(this.trie.labels[at]);
    }
    return labels.reverse();
  }
}
