// What must reach the server, kept in the browser until the server has it: withdrawals, and swipes.

import { call } from "./api.js";
import { get, getValue, names, put, remove } from "./collect-keep.js";

const SWIPE = "swipe:"; // and the attempt, and the session
const WITHDRAWAL = "withdraw:"; // and the code
const FIRST = 1000; // ms between the first two tries; each later wait is twice as long
const LONGEST = 30000;
const CODES = 50; // in one request
const OLD = "delete:"; // where an older page kept the sessions to be deleted

export class Outbox {
  /**
   * @param {object} on
   * @param {() => void} on.changed something was added, sent or refused
   * @param {(secret: string) => void} on.lost the server does not know a session; its swipes wait for adopt()
   * @param {(secret: string) => void} on.withdrawn a session was withdrawn from somewhere else
   * @param {(answer: {removed: number, sessions: {known: boolean, removed: number}[]}) => void} on.removed withdrawals are done
   */
  constructor(on) {
    Object.assign(this, { on, sent: 0, refused: 0, reachable: navigator.onLine, trouble: "", pause: FIRST });
    this.lost = new Set(); // sessions that the server does not know
    this.hopes = new Map(); // by name: who waits for the answer
    window.addEventListener("online", () => { this.reachable = true; this.flush(); });
    window.addEventListener("offline", () => { this.reachable = false; });
    for (const name of names(OLD)) { put(WITHDRAWAL + get(name), "1"); remove(name); }
  }

  /** How many swipes wait. */
  get waiting() { return names(SWIPE).length; }

  /** How many withdrawals wait. */
  get withdrawing() { return names(WITHDRAWAL).length; }

  /** Sends a swipe, now or later. Gives the server's answer; null where it was refused or withdrawn. */
  add(body) {
    const name = nameOf(body);
    put(name, JSON.stringify(body));
    const answer = new Promise((resolve) => { this.hopes.set(name, resolve); });
    this.on.changed();
    this.flush();
    return answer;
  }

  /**
   * Withdraws sessions, now or as soon as the server can be reached. Swipes of theirs that wait are dropped at once.
   * @param {string[]} codes secrets and receipts
   * @param {string[]} secrets whose swipes are dropped
   * @returns {number} how many were
   */
  withdraw(codes, secrets) {
    const dropped = secrets.reduce((sum, secret) => sum + this.#drop(secret), 0); // which makes room in a full storage
    for (const code of codes) put(WITHDRAWAL + code, "1");
    this.on.changed();
    this.flush();
    return dropped;
  }

  /** Gives swipes of lost sessions to another one. stamp: the session and the number of its next attempt. */
  adopt(stamp) {
    for (const name of names(SWIPE)) {
      const body = getValue(name);
      if (!this.lost.has(body?.session)) continue;
      const moved = { ...body, ...stamp() };
      put(nameOf(moved), JSON.stringify(moved));
      if (this.hopes.has(name)) this.hopes.set(nameOf(moved), this.hopes.get(name));
      this.hopes.delete(name);
      remove(name);
    }
    this.lost.clear();
    this.flush();
  }

  /** Sends all that waits, withdrawals first, one request at a time, until nothing waits or the server cannot be reached. */
  async flush() {
    if (this.flushing) return; // the loop that runs sees what was added
    this.flushing = true;
    clearTimeout(this.timer);
    this.trouble = "";
    try {
      for (;;) {
        const codes = this.trouble ? [] : names(WITHDRAWAL).slice(0, CODES);
        const name = names(SWIPE).find((one) => !this.lost.has(secretOf(one)));
        if (codes.length) await this.#withdraw(codes);
        else if (name) await this.#send(name);
        else break;
        [this.pause, this.reachable] = [FIRST, true];
        this.on.changed();
      }
    } catch (error) {
      if (!error.temporary) throw error;
      this.reachable = false;
      this.#later(error.wait);
    } finally {
      this.flushing = false;
      this.on.changed();
    }
    if (this.trouble) this.#later(0);
  }

  #later(wait) {
    this.timer = setTimeout(() => this.flush(), Math.max(this.pause, 1000 * (wait ?? 0)));
    this.pause = Math.min(this.pause * 2, LONGEST);
  }

  // A withdrawal is never given up: where the server refuses it, it is tried again later.
  async #withdraw(kept) {
    try {
      const answer = await call("api/withdrawals", { method: "POST", body: { codes: kept.map((name) => name.slice(WITHDRAWAL.length)) } });
      for (const name of kept) remove(name);
      this.on.removed(answer);
    } catch (error) {
      if (error.temporary) throw error;
      this.trouble = error.message;
    }
  }

  async #send(name) {
    const body = getValue(name);
    if (!body) { remove(name); return; }
    let answer = null;
    try {
      answer = await call("api/swipes", { method: "POST", body });
      this.sent += 1;
    } catch (error) {
      if (error.temporary) throw error;
      if (get(name) === null) { /* it was withdrawn while it was on its way */ }
      else if (error.kind === "UnknownSessionError") { this.lost.add(body.session); this.on.lost(body.session); return; }
      else if (error.kind === "WithdrawnError") { this.#drop(body.session); this.on.withdrawn(body.session); }
      else this.refused += 1;
    }
    remove(name);
    this.#settle(name, answer);
  }

  #drop(secret) {
    const dropped = names(SWIPE).filter((name) => secretOf(name) === secret);
    for (const name of dropped) { remove(name); this.#settle(name, null); }
    return dropped.length;
  }

  #settle(name, answer) {
    this.hopes.get(name)?.(answer);
    this.hopes.delete(name);
  }
}

const nameOf = ({ attempt, session }) => `${SWIPE}${String(attempt).padStart(7, "0")}:${session}`;
const secretOf = (name) => name.slice(name.indexOf(":", SWIPE.length) + 1);
