// Fetches a bundle's files and compares them with its manifest.

import { readContext } from "./context.js";
import { Languages } from "./languages.js";
import { Fluency } from "./literal.js";
import { Networks } from "./networks.js";
import { readTrie } from "./trie.js";

const FORMAT = "glissando-bundle";
const VERSION = 4;
// A bundle has one language, so that these constants of several change nothing.
const ALONE = { decade: 1, tail: 0, memory: 0, switch: 0, main: 1, lacking: 0, typed: 0 };

export class BundleError extends Error {}

/**
 * A reader of files beneath a web address.
 * @param {string | URL} base
 * @returns {import("./types.js").Read}
 */
export function fromAddress(base) {
  return async (name) => {
    const response = await fetch(new URL(name, base));
    if (!response.ok) throw new BundleError(`${name}: the server says ${response.status}`);
    return response.arrayBuffer();
  };
}

/**
 * @typedef {object} Bundle
 * @property {any} manifest
 * @property {import("./types.js").Read} file
 * @property {(name: string) => Promise<string>} text
 * @property {(name: string) => Promise<any>} json
 */

/**
 * @param {import("./types.js").Read} read
 * @returns {Promise<Bundle>}
 */
export async function openBundle(read) {
  const text = (/** @type {ArrayBuffer} */ buffer) => new TextDecoder("utf-8", { fatal: true }).decode(buffer);
  const manifest = JSON.parse(text(await read("manifest.json")));
  if (manifest.format !== FORMAT) throw new BundleError("manifest.json is not a bundle's");
  if (manifest.version !== VERSION) throw new BundleError(`the bundle has version ${manifest.version}; this reads ${VERSION}`);
  const file = async (/** @type {string} */ name) => check(name, await read(name), manifest.files[name]);
  const content = async (/** @type {string} */ name) => text(await file(name));
  return { manifest, file, text: content, json: async (name) => JSON.parse(await content(name)) };
}

/**
 * What a keyboard is made of, from a bundle.
 * @param {import("./types.js").Read} read
 * @param {any} ort the module onnxruntime-web
 * @returns {Promise<import("./keyboard.js").Parts>}
 */
export async function readBundle(read, ort) {
  const bundle = await openBundle(read);
  const [layout, constants] = await Promise.all(["layout.json", "constants.json"].map((name) => bundle.json(name)));
  const { models, language, context: before, fluency: grams } = bundle.manifest;
  if (constants.scoring.fluency_weight && !grams) throw new BundleError("the manifest names no fluency, which the constants want");
  const { trie, lexicon } = readTrie(await bundle.file("trie.bin"), language);
  /** @type {Record<string, ArrayBuffer | null>} */
  const files = {};
  for (const name of ["encoder", "decoder", "matcher"]) files[name] = models[name] ? await bundle.file(models[name].file) : null;
  const networks = await Networks.create(ort, files);
  const context = before ? readContext(await bundle.file(before.file), constants.context) : null;
  const fluency = grams ? new Fluency(new Uint8Array(await bundle.file(grams.file)), grams.order, trie.letters.length + 1) : null;
  return { bundle, layout, lexicon, languages: new Languages(lexicon, ALONE), trie, constants, networks, context, fluency };
}

/**
 * @param {string} name
 * @param {ArrayBuffer} buffer
 * @param {{bytes: number, sha256: string} | undefined} facts
 */
async function check(name, buffer, facts) {
  if (!facts) throw new BundleError(`the manifest does not list ${name}`);
  if (buffer.byteLength !== facts.bytes) throw new BundleError(`${name} is damaged: ${buffer.byteLength} bytes, not ${facts.bytes}`);
  // Browsers hash on https and on localhost only; elsewhere the size and the trie's own checksums must do.
  if (globalThis.crypto?.subtle) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", buffer));
    const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (hex !== facts.sha256) throw new BundleError(`${name} is damaged: its checksum does not fit`);
  }
  return buffer;
}
