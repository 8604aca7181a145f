// The one place where swipes become words. A worker on this device reads them; the server does where the worker is not
// ready yet or cannot work, if there is a server.

import { Device, DeviceError, lacking } from "./device.js";
import { filesFor, keepIndex, keptIndex, newestIndex, readFile } from "./kitfiles.js";
import { asked } from "./layouts.js";
import { languageName } from "./page.js";
import * as server from "./server.js";

const ASK_AGAIN_MS = [5000, 15000, 60000]; // a server that has no runtime yet may have it later
const LIVES = 2; // a worker that dies is started again once
const FAILED = "reading on this device has failed";
const NO_RUNTIME = "the server does not have what this device needs";

let index = null;
let kept = false; // whether the index is one of before
let device = null; // the worker, from its start on
let opening = null; // the promise of the worker that is ready
let open = false; // whether it is
let deaths = 0;
let words = null; // the person's own, as JSON
let current = null; // {layout, language} that is written with now
const refused = new Set(); // keyboards that this device cannot make
const status = { reader: "none", why: "", loaded: 0, total: 0 };
let listener = () => {};
let updated = () => {};

/**
 * Says who reads swipes, now and whenever that changes.
 * @param {(status: {reader: "device" | "server" | "none", why: string, loaded: number, total: number}) => void} changed
 *   why: what keeps this device from reading them, in plain words; loaded and total: bytes of a download that goes on
 * @param {() => void} newer called when a newer version was downloaded, to be used at the next start
 */
export function watch(changed, newer = () => {}) {
  [listener, updated] = [changed, newer];
  listener(status);
}

/** The layouts and languages that there are, and whether there is a server. */
export async function choices() {
  index ??= await keptIndex();
  kept = Boolean(index);
  index ??= await newestIndex();
  return { layouts: index.layouts, languages: Object.keys(index.languages), server: index.server };
}

/**
 * Reads a swipe.
 * @param {number[][]} points [[x, y, t], ...] over the letter area
 * @param {object} asking {layout, language, context, prefix, id, window, before}: the context is the text before, and not
 *   known where undefined. window: [{id, points}, ...], earlier swipes to be read again with this one, after the text before
 * @param {{k?: number, signal?: AbortSignal, timeout?: number, preview?: boolean}} [options]
 * @returns {Promise<{candidates: {word: string, probability: number, literal: boolean, language: string}[], none: number | null,
 *   earlier?: object[]}>} none: the probability that no candidate is right; earlier: {id, candidates, none} of the window
 */
export function decode(points, asking, options = {}) {
  const { k = 6, signal, preview } = options;
  return ask("decode", { ...asking, points, k, preview }, { signal, preview }, () => server.decode(points, asking, options));
}

/** What the networks saw in a swipe, and why a word was not first; the form is that of /api/explain. */
export const explain = (points, asking, word) => ask("explain", { ...asking, points, word }, {}, () => server.explain(points, asking, word));

/** Whether a word is in the dictionary, or one of the person's own. */
export const known = (word, asking) => ask("known", { ...asking, word }, {}, () => server.known(word, asking));

/**
 * Makes the keyboard of a layout and a language, so that its first swipe need not wait, and loads what this device lacks.
 * The promise is kept once someone can read swipes on it.
 */
export async function warm(layout, language) {
  current = { layout, language };
  if (index.server && !open && !kept) {
    openDevice().catch(() => {});
    await server.warm(layout, language);
  } else {
    await ask("warm", { layout, language }, {}, () => server.warm(layout, language));
  }
  tell();
}

/** Takes the person's own words, as the library's vocabulary JSON. */
export async function use(vocabulary) {
  words = vocabulary;
  if (!device || device.dead) return; // they are given to it when it is there
  try { await device.ask("use", { words }); } catch (error) { if (error.kind !== "died") throw error; }
}

// Lets the device do something, or the server.
async function ask(kind, body, options, otherwise) {
  try {
    if (!index) await choices();
    current ??= body;
    const reader = await chosen(body, options.signal);
    return await (reader ? reader.ask(kind, plain(body), options) : otherwise());
  } catch (error) {
    if (error.kind === "died") return ask(kind, body, options, otherwise);
    if (error.kind === "missing" && index) throw missing(body.language);
    if (error.kind !== "kit" || !index.server) throw error;
    refused.add(keyOf(body));
    tell(error.message);
    return otherwise();
  }
}

// The worker where it is ready or will be soon, or where there is no server; null where the server reads.
async function chosen(asking, signal) {
  if (refused.has(keyOf(asking)) && index.server) return null;
  if (open) return device;
  if (index.server && !kept) return null; // until the download is done
  try { return await aborted(openDevice(), signal); } catch (error) {
    if (index.server && error.kind !== "dropped") return null;
    throw error;
  }
}

function openDevice() {
  if (!opening) {
    const started = start();
    opening = started;
    started.catch(() => { if (opening === started) opening = null; });
  }
  return opening;
}

async function start() {
  if (lacking()) { tell(lacking()); throw new DeviceError(`Swipes cannot be read: ${lacking()}.`, "refused"); }
  if (deaths >= LIVES) { tell(FAILED); throw new DeviceError(`Swipes cannot be read: ${FAILED}.`, "failed"); }
  if (!index.runtime) { waitForRuntime(); throw new DeviceError(`Swipes cannot be read: ${NO_RUNTIME}.`, "failed"); }
  tell();
  device = new Device({ died, progress: (download) => { Object.assign(status, download ?? { loaded: 0, total: 0 }); tell(); } });
  try {
    await device.ask("open", { index, languages: current.language.split(",") });
    if (words) await use(words);
  } catch (error) {
    if (error.kind === "missing") { device.close(); Object.assign(status, { loaded: 0, total: 0 }); tell("the download was interrupted"); throw missing(current.language); }
    if (error.kind === "kit") { device.close(); died(); }
    throw error;
  }
  await device.ask("warm", plain(current)).catch(() => {}); // whoever needs it hears of it
  open = !device.dead;
  tell();
  await keepIndex(index);
  if (kept) update();
  return device;
}

// The worker can work no more.
function died() {
  [open, opening] = [false, null];
  Object.assign(status, { loaded: 0, total: 0 }); // its downloads ended with it
  deaths += 1;
  if (deaths < LIVES) openDevice().catch(() => {});
  else tell(FAILED);
}

let [waiting, waited] = [false, 0];
async function waitForRuntime() {
  tell(NO_RUNTIME);
  if (waiting) return;
  waiting = true;
  await new Promise((resolve) => { setTimeout(resolve, ASK_AGAIN_MS[Math.min(waited, ASK_AGAIN_MS.length - 1)]); });
  [waiting, waited] = [false, waited + 1];
  try { index = await newestIndex(); } catch { /* it is asked again */ }
  openDevice().catch(() => {});
}

// A download that was interrupted goes on when the network is back.
window.addEventListener("online", () => { if (current && !open) openDevice().catch(() => {}); });

// Fetches a newer kit in the background, for the next start.
async function update() {
  let newer;
  try { newer = await newestIndex(); } catch { return; } // without a network
  if (newer.build === index.build || !newer.runtime) return;
  try { for (const name of filesFor(newer, current.language.split(","))) await readFile(newer, name); } catch { return; }
  await keepIndex(newer, index);
  updated();
}

// Tells the listener how things stand. why: what keeps this device from reading, if that is new.
function tell(why) {
  if (why !== undefined) status.why = why;
  if (open && !refused.has(keyOf(current ?? {}))) Object.assign(status, { reader: "device", why: "" });
  else status.reader = index?.server ? "server" : "none";
  listener(status);
}

function missing(language) {
  const names = language.split(",").map(languageName).join(" and ");
  return new DeviceError(open ? `${names} is not on this device yet. It needs the internet once.` : "The keyboard is not loaded yet. It needs the internet once.", "missing");
}

const keyOf = ({ layout, language }) => `${language} ${JSON.stringify(layout?.keys)}`;

// What a worker can be given of a question.
const plain = ({ layout, language, ...rest }) => ({ ...rest, layout: asked(layout), languages: language.split(",") });

// A promise that an abort ends.
function aborted(promise, signal) {
  if (!signal) return promise;
  return Promise.race([promise, new Promise((_, reject) => { signal.addEventListener("abort", () => reject(new DeviceError("", "dropped")), { once: true }); })]);
}
