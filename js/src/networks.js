// The networks in onnxruntime-web. Keyboards share them; one swipe runs at a time.

const MAX_KEYS = 64; // of the exported encoder

/**
 * @typedef {Record<string, any>} Feeds tensors by name
 * @typedef {{run: (feeds: Feeds, outputs?: string[]) => Promise<Feeds>, release?: () => Promise<void>}} Session
 */

export class Networks {
  /**
   * @param {any} ort the module onnxruntime-web
   * @param {{encoder: Session, decoder?: Session | null, matcher?: Session | null}} sessions
   */
  constructor(ort, sessions) {
    this.ort = ort;
    this.sessions = sessions;
    /** @private @type {Promise<unknown>} */
    this.last = Promise.resolve();
  }

  /**
   * Makes the sessions, one after the other.
   * @param {any} ort
   * @param {Record<string, ArrayBuffer | null>} models ONNX files by the names of the networks; null for one that is not there
   * @returns {Promise<Networks>}
   */
  static async create(ort, models) {
    /** @type {any} */
    const sessions = {};
    for (const [name, model] of Object.entries(models)) {
      sessions[name] = model && await ort.InferenceSession.create(new Uint8Array(model), { executionProviders: ["wasm"] });
    }
    return new Networks(ort, sessions);
  }

  /**
   * Whether there is a network of this name.
   * @param {"encoder" | "decoder" | "matcher"} name
   */
  has(name) {
    return Boolean(this.sessions[name]);
  }

  /**
   * Runs a network after all runs before it.
   * @param {"encoder" | "decoder" | "matcher"} name
   * @param {Feeds} feeds
   * @param {string[]} [outputs] which of its outputs are wanted; all by default
   * @returns {Promise<Feeds>}
   */
  run(name, feeds, outputs) {
    const session = /** @type {Session} */ (this.sessions[name]);
    const running = this.last.then(() => (outputs ? session.run(feeds, outputs) : session.run(feeds)));
    this.last = running.catch(() => {});
    return running;
  }

  /**
   * @param {"float32" | "bool"} kind
   * @param {Float32Array | Uint8Array} data
   * @param {number[]} dims
   */
  tensor(kind, data, dims) {
    return new this.ort.Tensor(kind, data, dims);
  }

  /**
   * The keys of a layout as the encoder takes them.
   * @param {{cx: number, cy: number}[]} keys
   * @returns {Feeds}
   */
  keys(keys) {
    const [centres, mask] = [new Float32Array(2 * MAX_KEYS), new Uint8Array(MAX_KEYS)];
    keys.forEach((key, i) => { centres.set([key.cx, key.cy], 2 * i); mask[i] = 1; });
    return { layout_keys: this.tensor("float32", centres, [1, MAX_KEYS, 2]), layout_mask: this.tensor("bool", mask, [1, MAX_KEYS]) };
  }
}
