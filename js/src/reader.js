// What the networks say of a swipe on one layout, key by key and letter by letter.

/**
 * @typedef {object} Encoded what the encoder says
 * @property {Float32Array} logProbs [frames, keys + 1], blank last
 * @property {number} frames
 * @property {any} [coefficients] tensors, where all was asked for
 * @property {any} [gate]
 */

/**
 * @typedef {object} Reading
 * @property {Encoded} encoded
 * @property {Float32Array} letters [frames, letters + 1], blank last; these are searched
 * @property {Float32Array | null} corrected the same as the decoder corrects it; null where there is no decoder
 */

export class Reader {
  /**
   * @param {import("./networks.js").Networks} networks
   * @param {import("./types.js").Key[]} keys of the layout
   * @param {number[][]} groups for each letter of the trie, the indices of its keys
   * @param {number[] | null} columns for each column of the decoder, which of the encoder's; null where there is no decoder
   */
  constructor(networks, keys, groups, columns) {
    this.networks = networks;
    this.count = keys.length;
    this.groups = groups;
    this.columns = columns;
    this.keys = networks.keys(keys);
  }

  /**
   * Reads a swipe.
   * @param {Float32Array} path resampled
   * @param {boolean} [all] whether all that the encoder says is wanted, as for an explanation
   * @returns {Promise<Reading>}
   */
  async read(path, all = false) {
    const { columns } = this;
    const encoded = await this.encode(path, all || Boolean(columns));
    const corrected = columns ? this.#byLetter(await this.#correct(encoded, columns)) : null;
    return { encoded, letters: this.#byLetter(encoded.logProbs), corrected };
  }

  /**
   * Runs the encoder.
   * @param {Float32Array} path
   * @param {boolean} [all]
   * @returns {Promise<Encoded>}
   */
  async encode(path, all = false) {
    const features = this.networks.tensor("float32", path, [1, 2, path.length / 2]);
    const outputs = await this.networks.run("encoder", { features, ...this.keys }, all ? undefined : ["log_emissions"]);
    const { data, dims: [, frames, columns] } = outputs.log_emissions;
    const { count } = this;
    const logProbs = new Float32Array(frames * (count + 1));
    for (let t = 0; t < frames; t += 1) {
      logProbs.set(data.subarray(t * columns, t * columns + count), t * (count + 1));
      logProbs[t * (count + 1) + count] = data[(t + 1) * columns - 1]; // blank follows the padded keys
    }
    return { logProbs, frames, coefficients: outputs.coefficients, gate: outputs.gate };
  }

  /**
   * The decoder's correction of the encoder's emissions.
   * @param {Encoded} encoded
   * @param {number[]} columns
   * @returns {Promise<Float32Array>} [frames, keys + 1]
   */
  async #correct({ logProbs, frames, coefficients, gate }, columns) {
    const width = columns.length;
    const ordered = logProbs.map((_, i) => logProbs[i - (i % width) + columns[i % width]]);
    const emissions = this.networks.tensor("float32", ordered, [1, frames, width]);
    const { log_probs: found } = await this.networks.run("decoder", { log_emissions: emissions, coefficients, gate });
    const corrected = new Float32Array(logProbs.length);
    for (let i = 0; i < corrected.length; i += 1) corrected[i - (i % width) + columns[i % width]] = found.data[i];
    return corrected;
  }

  /**
   * Adds up the keys of each letter.
   * @param {Float32Array} logProbs [frames, keys + 1]
   * @returns {Float32Array} [frames, letters + 1]
   */
  #byLetter(logProbs) {
    const { count } = this;
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
}
