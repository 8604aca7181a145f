// The files of the kit, kept in this browser: what was downloaded once is there without a network.
//
// An index names a build, and every file is asked for with it. The index that is kept is the one whose files are all here.

const KIT = new URL("../kit/", import.meta.url);
const VERSION = 1; // of the kit that this page reads
const NAME = `glissando kit ${KIT.pathname}`; // one host may have several keyboards

/** A file that is neither kept here nor to be had now. */
export class MissingError extends Error {
  kind = "missing";
  temporary = true;
}

/** A file that came, but not as it should be. */
export class DamagedError extends Error {}

/** Where a file of the kit is. */
export const addressOf = (index, name) => new URL(`${name}?v=${index.build}`, KIT).href;

/** The index whose files are kept here; null where there is none. */
export async function keptIndex() {
  try {
    const index = await (await (await openCache(NAME))?.match(new URL("index.json", KIT)))?.json();
    return index?.version === VERSION ? index : null;
  } catch {
    return null;
  }
}

/** The index that the server has now. */
export async function newestIndex() {
  let index;
  try {
    const response = await fetch(new URL("index.json", KIT), { cache: "no-cache" });
    if (!response.ok) throw new Error(`${response.status}`);
    index = await response.json();
  } catch {
    throw new MissingError("The server cannot be reached.");
  }
  if (index.version !== VERSION) throw new Error("This page is older than the server. Close it and open it again.");
  return index;
}

/**
 * Reads a file, decompressed: from what is kept, else from the server, and keeps it. What is damaged is not kept.
 * @param {object} index
 * @param {string} name
 * @param {(bytes: number, all: number) => void} [progress] called with what has come, and what comes in all
 * @returns {Promise<ArrayBuffer>}
 */
export async function readFile(index, name, progress = () => {}) {
  const address = addressOf(index, name);
  const cache = await openCache(`${NAME} ${index.build}`);
  try {
    const kept = await cache?.match(address);
    if (kept) return await decompress(name, await kept.arrayBuffer(), true);
  } catch { /* it was damaged since */ }
  let [response, bytes] = [];
  try {
    response = await fetch(address);
    // A hotel's network may answer with a page of its own.
    if (!response.ok || /html/u.test(response.headers.get("content-type"))) throw new Error(`${response.status}`);
    bytes = await counted(response, progress);
  } catch {
    throw new MissingError(`${name} is not on this device yet, and the server cannot be reached.`);
  }
  const found = await decompress(name, bytes, response.headers.has("content-encoding"));
  const headers = { "content-type": response.headers.get("content-type") ?? "" }; // a module needs it
  try { await cache?.put(address, new Response(bytes, { headers })); } catch { /* storage is full: it is downloaded again next time */ }
  return found;
}

/** Forgets a file that turned out to be damaged. */
export async function discard(index, name) {
  await (await openCache(`${NAME} ${index.build}`))?.delete(addressOf(index, name));
}

/** The files that reading swipes in some languages takes. */
export function filesFor(index, languages) {
  const words = languages.flatMap((code) => Object.values(index.languages[code] ?? {}));
  return [index.runtime.module, index.runtime.wasm, ...Object.values(index.models), ...words].filter(Boolean);
}

/** Keeps an index for the next start. All its files must be here. What is of neither this nor another build in use goes. */
export async function keepIndex(index, ...inUse) {
  const cache = await openCache(NAME);
  if (!cache) return;
  try { await cache.put(new URL("index.json", KIT), new Response(JSON.stringify(index))); } catch { return; }
  const needed = [NAME, ...[index, ...inUse].map(({ build }) => `${NAME} ${build}`)];
  for (const name of await caches.keys()) if (name.startsWith(`${NAME} `) && !needed.includes(name)) await caches.delete(name);
}

// Only pages from HTTPS or from this machine have a cache; some browsers forbid it.
async function openCache(name) {
  try { return await globalThis.caches?.open(name); } catch { return undefined; }
}

// The content of a .gz file. A web server may have decompressed it on the way; no content begins as gzip does.
async function decompress(name, bytes, maybeDone) {
  if (!name.endsWith(".gz")) return bytes;
  const [first, second] = new Uint8Array(bytes).subarray(0, 2);
  const packed = first === 0x1f && second === 0x8b;
  if (!packed && maybeDone) return bytes;
  try {
    if (packed) return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  } catch { /* then it is damaged */ }
  throw new DamagedError(`${name} is damaged`);
}

async function counted(response, progress) {
  const all = Number(response.headers.get("content-length")) || 0;
  const parts = [];
  let bytes = 0;
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    bytes += part.value.length;
    progress(bytes, Math.max(all, bytes));
  }
  return new Blob(parts).arrayBuffer();
}
