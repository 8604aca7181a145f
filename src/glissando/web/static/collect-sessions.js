// The donor's sessions. Every secret stays in this browser with its date, also when its session has ended: it can still withdraw
// what was given. A session goes only when it is withdrawn.

import { call } from "./api.js";
import { get, getValue, names, put, remove } from "./collect-keep.js";

const START = "session:";
const OLD = "session"; // where an older page kept its only secret

/**
 * @typedef {object} Session
 * @property {string} session the secret
 * @property {string} receipt the code that withdraws it; "" in sessions of an older page
 * @property {string} link opens the page that withdraws it
 * @property {string[]} qr the link as a QR code
 * @property {string} date the day it began, "" where it is not known
 * @property {number} expires seconds since 1970
 * @property {string} version of the consent
 * @property {number} attempt the number of the last attempt
 * @property {string[]} done sentences that are done
 * @property {boolean} kept whether it outlives the page
 */

/** Takes over the secret that an older page kept. */
export function adoptOld() {
  const old = getValue(OLD);
  if (old?.session) save({ receipt: "", link: "", qr: [], date: "", expires: 0, version: "", attempt: 0, done: [], ...old });
  if (get(OLD) !== null && (!old?.session || find(old.session))) remove(OLD);
}

/** All sessions of this browser, the oldest first. @returns {Session[]} */
export function all() {
  return names(START).map((name) => getValue(name)).filter((one) => one?.session).sort((a, b) => a.expires - b.expires);
}

/** The session of a secret; null where it was withdrawn. @returns {Session | null} */
export const find = (secret) => getValue(START + secret);

/** The running session that was opened with this version of the consent, or null. @returns {Session | null} */
export function running(version) {
  return all().filter((one) => one.version === version && !isOver(one)).at(-1) ?? null;
}

/** Whether a session takes no new words. */
export const isOver = ({ expires }) => expires * 1000 <= Date.now();

/** Opens a session. version: of the consent that the donor has seen and agreed to. @returns {Promise<Session>} */
export async function open(version) {
  const answer = await call("api/sessions", { method: "POST", body: { consent: true, version } });
  const fresh = { ...answer, date: new Date().toISOString().slice(0, 10), version, attempt: 0, done: [] };
  save(fresh);
  return find(fresh.session);
}

/** The number of the next attempt in a session; null where the session was withdrawn. */
export function nextAttempt(secret) {
  const one = find(secret);
  if (!one) return null;
  save({ ...one, attempt: one.attempt + 1 });
  return one.attempt + 1;
}

/** Notes that a sentence is done, so that it is not asked for again: it would replace what was given. */
export function sentenceDone(secret, id) {
  const one = find(secret);
  if (one && !one.done.includes(id)) save({ ...one, done: [...one.done, id] });
}

/** Notes that a session takes no more words. */
export function end(secret) {
  const one = find(secret);
  if (one) save({ ...one, expires: Math.min(one.expires, Math.floor(Date.now() / 1000)) });
}

/** Forgets a session that is withdrawn. */
export const forget = (secret) => remove(START + secret);

function save(one) {
  const kept = put(START + one.session, JSON.stringify({ ...one, kept: true }));
  if (!kept) put(START + one.session, JSON.stringify({ ...one, kept: false }));
}
