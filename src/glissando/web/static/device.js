// The worker that reads swipes on this device: one piece of work at a time, words before previews.

/**
 * What went wrong. kind: "missing" (a file is not here), "died" (the worker has), "failed" (there will be no other), "kit" (what was
 * asked for cannot be made), "dropped" (it is no longer wanted) or "refused" (a bad swipe, word or browser).
 */
export class DeviceError extends Error {
  constructor(message, kind) {
    super(message);
    this.kind = kind;
  }
  get temporary() { return ["missing", "died", "failed"].includes(this.kind); }
}

/** What this browser lacks for reading swipes by itself, in plain words; "" where it has all. */
export function lacking() {
  if (typeof Worker === "undefined" || typeof DecompressionStream === "undefined" || typeof WebAssembly === "undefined") return "this browser is too old";
  return WebAssembly.validate(SIMD) ? "" : "this browser lacks a part of WebAssembly (SIMD)";
}

// A function that does nothing but use a vector.
const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);
const SLOW_MS = 30000; // a swipe that takes longer, and loads nothing, will never be read

export class Device {
  // died(): called once, when the worker can work no more. progress({loaded, total} or null): of downloads.
  constructor({ died, progress }) {
    Object.assign(this, { died, progress, waiting: [], now: null, dead: false });
    this.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.worker.addEventListener("message", ({ data }) => this.#hear(data));
    this.worker.addEventListener("error", (event) => { event.preventDefault(); this.#die(); });
    this.worker.addEventListener("messageerror", () => this.#die());
  }

  /**
   * Lets the worker do something; see worker.js. A preview that waits is dropped when anything else comes.
   * @param {string} kind
   * @param {object} body
   * @param {{signal?: AbortSignal, preview?: boolean}} [options]
   */
  ask(kind, body, { signal, preview = false } = {}) {
    return new Promise((resolve, reject) => {
      const job = { kind, body, preview, resolve, reject };
      if (this.dead) { reject(new DeviceError("Reading on this device has failed.", "died")); return; }
      signal?.addEventListener("abort", () => this.#drop(job), { once: true });
      for (const one of this.waiting.filter((other) => other.preview)) this.#drop(one);
      this.waiting.push(job);
      this.#next();
    });
  }

  close() {
    if (this.dead) return;
    this.dead = true;
    this.worker.terminate();
    clearTimeout(this.guard);
    const jobs = [this.now, ...this.waiting];
    [this.now, this.waiting] = [null, []];
    for (const job of jobs) job?.reject(new DeviceError("Reading on this device has failed.", "died"));
  }

  #drop(job) {
    this.waiting = this.waiting.filter((one) => one !== job);
    job.reject(new DeviceError("", "dropped"));
  }

  #next() {
    if (this.now || !this.waiting.length) return;
    this.now = this.waiting.shift();
    const { kind, body } = this.now;
    this.#guard();
    this.worker.postMessage({ kind, body });
  }

  #guard() {
    clearTimeout(this.guard);
    if (this.now?.kind === "decode") this.guard = setTimeout(() => this.#die(), SLOW_MS);
  }

  #hear({ answer, error, progress }) {
    if (progress !== undefined) { this.#guard(); this.progress(progress); return; }
    if (error?.kind === "died") { this.#die(); return; }
    clearTimeout(this.guard);
    const job = this.now;
    this.now = null;
    if (error) job?.reject(new DeviceError(error.message, error.kind));
    else job?.resolve(answer);
    this.#next();
  }

  #die() {
    if (this.dead) return;
    this.close();
    this.died();
  }
}
