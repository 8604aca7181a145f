// Sentences ahead of the donor. Never more than one request at a time, and longer and longer waits after failures.

export const COUNT = 20; // sentences in one request, so that a donor can go on without a network
const LOW = 5; // left, when more are fetched
const FIRST = 1000; // ms after the first failure; each later wait is twice as long
const LONGEST = 60000;
const VAIN = 3; // requests in a row that bring nothing new: then there is hardly anything new

export class Supply {
  /**
   * @param {(count: number) => Promise<{sentences: {id: string, words: {text: string, typed: string}[]}[]}>} load
   * @param {string[]} seen sentences that are done
   * @param {() => void} changed called when sentences have come, or it is known that none will
   */
  constructor(load, seen, changed) {
    Object.assign(this, { load, changed, seen: new Set(seen), ahead: [], pause: FIRST, vain: 0, timer: 0, loading: false });
    this.over = ""; // why no more will come: "all" have been given, or "none" can be typed
    this.why = ""; // the server's words
    this.online = () => { if (this.timer) { clearTimeout(this.timer); this.timer = 0; this.fill(); } };
    window.addEventListener("online", this.online);
  }

  /** The next sentence, or null where none is here now. */
  take() {
    const next = this.ahead.shift() ?? null;
    this.fill();
    return next;
  }

  /** Fetches sentences where few are left, and neither a request nor a wait is under way. */
  async fill() {
    if (this.loading || this.timer || this.over || this.ahead.length > LOW) return;
    this.loading = true;
    let fresh = 0;
    try {
      fresh = this.#add((await this.load(COUNT)).sentences);
    } catch (error) {
      if (!error.temporary) [this.over, this.why] = ["none", error.message];
    }
    this.loading = false;
    if (fresh) this.pause = FIRST;
    else if (!this.over) this.#wait();
    this.changed();
  }

  /** It is not needed any more. */
  close() {
    this.over ||= "all";
    clearTimeout(this.timer);
    window.removeEventListener("online", this.online);
  }

  #add(sentences) {
    const fresh = sentences.filter((one) => !this.seen.has(one.id) && one.words.some((word) => word.typed));
    for (const one of fresh) { this.seen.add(one.id); this.ahead.push(one); }
    this.vain = fresh.length ? 0 : this.vain + 1;
    if (sentences.length < COUNT || this.vain >= VAIN) this.over = "all"; // the server has no more than it gave
    return fresh.length;
  }

  #wait() {
    this.timer = setTimeout(() => { this.timer = 0; this.fill(); }, this.pause);
    this.pause = Math.min(this.pause * 2, LONGEST);
  }
}
