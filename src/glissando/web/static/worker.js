// Reads swipes, in a worker, so that the page never waits for it. It answers one message after the other: see device.js.

import { KitError, openKit } from "../js/kit.js";
import { GestureError } from "../js/resample.js";
import { TypingError } from "../js/typing.js";
import { Vocabulary, VocabularyError } from "../js/vocabulary.js";
import { DamagedError, MissingError, addressOf, discard, filesFor, readFile } from "./kitfiles.js";

const KEYBOARDS = 3; // kept in memory, those used last
const FINALISTS = 8; // swipes whose finalists are kept, for a swipe after them that is read together with them
const TELL_MS = 100; // between two messages about a download

let kit = null;
let words = null; // the person's own, as JSON
const keyboards = new Map();
const finalists = new Map(); // of each swipe {keyboard, found}

const work = { open, use, warm: (asking) => keyboardFor(asking).then(() => null), decode, explain, known };

let last = Promise.resolve();
addEventListener("message", ({ data: { kind, body } }) => {
  last = last.then(() => work[kind](body)).then((answer) => postMessage({ answer: answer ?? null }), (error) => postMessage({ error: described(error) }));
});

// An error that no one expects means that the networks cannot work any more.
function described(error) {
  const kinds = [[MissingError, "missing"], [KitError, "kit"], [DamagedError, "kit"], [VocabularyError, "refused"], [GestureError, "refused"], [TypingError, "refused"]];
  const kind = kinds.find(([type]) => error instanceof type)?.[1] ?? "died";
  if (kind === "died") console.warn(error);
  return { kind, message: error.message };
}

async function open({ index, languages }) {
  const files = new Map(filesFor(index, languages).map((name) => [name, download(index, name)]));
  const all = Promise.all(files.values());
  all.catch(() => {}); // it is waited for below
  const read = (name) => {
    const found = files.get(name) ?? download(index, name);
    files.delete(name); // it is not needed twice, and is kept elsewhere
    return found;
  };
  const { module, wasm } = index.runtime;
  await read(module);
  const ort = await import(addressOf(index, module)).catch(async (error) => { await discard(index, module); throw error; });
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = await read(wasm);
  await all;
  kit = await openKit(read, ort, index);
}

function use(asked) {
  const read = () => Vocabulary.from(asked.words, kit.index.constants.vocabulary);
  read(); // fails here, where it is not one
  ({ words } = asked);
  for (const keyboard of keyboards.values()) keyboard.vocabulary = read();
}

async function keyboardFor({ layout, languages }) {
  const key = JSON.stringify([languages, layout]);
  const keyboard = keyboards.get(key) ?? await kit.keyboard(layout, languages);
  if (!keyboards.has(key) && words) keyboard.vocabulary = Vocabulary.from(words, kit.index.constants.vocabulary);
  keyboards.delete(key);
  keyboards.set(key, keyboard); // the last one
  if (keyboards.size > KEYBOARDS) keyboards.delete(keyboards.keys().next().value);
  return keyboard;
}

async function decode(asking) {
  const { points, k, preview, context, prefix = "", id, window = [], before } = asking;
  const keyboard = await keyboardFor(asking);
  if (preview) return listed(await keyboard.decode(points, k, context ?? null, { prefix }));
  const swipes = [];
  for (const one of [...window, { id, points, prefix }]) swipes.push(await finalistsOf(keyboard, one));
  const { candidates } = keyboard.join(swipes, k, window.length ? before : context ?? null);
  const earlier = window.map((one, i) => ({ id: one.id, ...listed(candidates[i]) }));
  return { ...listed(candidates.at(-1)), earlier };
}

async function finalistsOf(keyboard, { id, points, prefix = "" }) {
  const kept = finalists.get(id);
  const found = kept?.keyboard === keyboard ? kept.found : await keyboard.finalists(points, { prefix });
  if (id === undefined) return found;
  finalists.delete(id);
  finalists.set(id, { keyboard, found });
  if (finalists.size > FINALISTS) finalists.delete(finalists.keys().next().value);
  return found;
}

const listed = (candidates) => ({
  candidates: candidates.map(({ word, probability, literal, language }) => ({ word, probability, literal, language })),
  none: candidates.none ?? null,
});

async function explain(asking) {
  const { points, word, context = null, prefix = "" } = asking;
  return (await keyboardFor(asking)).explain(points, { word, context, prefix });
}

async function known(asking) {
  return (await keyboardFor(asking)).has(asking.word);
}

const downloads = new Map(); // of each file that is on its way [bytes, all]
let told = 0;

async function download(index, name) {
  try {
    return await readFile(index, name, (bytes, all) => {
      downloads.set(name, [bytes, all]);
      if (performance.now() - told < TELL_MS) return;
      told = performance.now();
      const sums = [0, 1].map((i) => [...downloads.values()].reduce((sum, row) => sum + row[i], 0));
      postMessage({ progress: { loaded: sums[0], total: sums[1] } });
    });
  } finally {
    if (downloads.has(name) && [...downloads.values()].every(([bytes, all]) => bytes >= all)) {
      downloads.clear();
      postMessage({ progress: null });
    }
  }
}
