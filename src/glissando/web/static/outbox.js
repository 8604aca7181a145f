// What must reach the server, kept in the browser until the server says it has it: swipes, and requests to delete.

import { call } from "./api.js";

const SWIPE = "glissando:swipe:";
const DELETION = "glissando:delete:";
const LONGEST = 30000; // ms between two tries

export class Outbox {
  // changed(): called when something was sent, refused or added; renew(): gives a new session's secret.
  constructor({ changed, renew }) {
    this.changed = changed;
    this.renew = renew;
    this.sent = 0;
    this.refused = 0;
    this.deleted = null;
    this.pause = 1000;
    this.memory = new Map(); // where the browser has no room left
    window.addEventListener("online", () => this.flush());
  }

  get waiting() { return this.#keys(SWIPE).length; }

  add(body) {
    this.#put(`${SWIPE}${String(body.attempt).padStart(7, "0")}:${body.session}`, JSON.stringify(body));
    this.changed();
    return this.flush();
  }

  // Forgets what waits of a session and asks the server to forget the rest, now or as soon as it can be reached.
  deleteSession(session) {
    for (const key of this.#keys(SWIPE)) if (key.endsWith(`:${session}`)) this.#remove(key);
    this.#put(`${DELETION}${session}`, session);
    this.changed();
    return this.flush();
  }

  // Sends all that waits, oldest first, one at a time; returns when nothing waits or the server cannot be reached.
  async flush() {
    if (this.flushing) return; // what was added meanwhile is seen by the loop that runs
    this.flushing = true;
    clearTimeout(this.timer);
    try {
      for (let key = this.#next(); key; key = this.#next()) {
        await (key.startsWith(DELETION) ? this.#sendDeletion(key) : this.#sendSwipe(key));
        this.pause = 1000;
        this.changed();
      }
    } catch (error) {
      this.timer = setTimeout(() => this.flush(), Math.max(this.pause, 1000 * (error.wait ?? 0)));
      this.pause = Math.min(this.pause * 2, LONGEST);
    } finally {
      this.flushing = false;
    }
    this.changed();
  }

  async #sendDeletion(key) {
    const { removed } = await call("/api/withdrawals", { method: "POST", body: { codes: [this.#get(key)] } });
    this.deleted = removed;
    this.#remove(key);
  }

  async #sendSwipe(key) {
    const body = JSON.parse(this.#get(key));
    try {
      await call("/api/swipes", { method: "POST", body });
      this.sent += 1;
    } catch (error) {
      if (error.temporary) throw error;
      if (error.kind === "UnknownSessionError") {
        const session = await this.renew(body.session);
        if (session) {
          this.#put(`${key.split(":").slice(0, 3).join(":")}:${session}`, JSON.stringify({ ...body, session }));
          this.#remove(key);
          return;
        }
      }
      this.refused += 1;
    }
    this.#remove(key);
  }

  #next() { return [...this.#keys(DELETION), ...this.#keys(SWIPE)][0]; }

  #keys(start) {
    return [...Object.keys(localStorage), ...this.memory.keys()].filter((key) => key.startsWith(start)).sort();
  }

  #get(key) { return this.memory.get(key) ?? localStorage.getItem(key); }

  #put(key, value) {
    try { localStorage.setItem(key, value); } catch { this.memory.set(key, value); }
  }

  #remove(key) {
    this.memory.delete(key);
    localStorage.removeItem(key);
  }
}
