// Fetches a bundle's files and compares them with its manifest.

import { readContext } from "./context.js";
import { Languages } from "./languages.js";
import { Fluency } from "./literal.js";
import { Networks } from "./networks.js";
import { readTrie } from "./trie.js";

const FORMAT = "glissando-bundle";
const VERSION = 4;

export class BundleError extends Error {}

// A reader of files beneath a web address.
export function fromAddress(base) {
  return async (name) => {
    const response = await fetch(new URL(name, base));
    if (!response.ok) throw new BundleError(`${name}: the server says ${response.status}`);
    return response.arrayBuffer();
  };
}

// read(name) -> Promise of an ArrayBuffer. -> {manifest, file(name), json(name)}
export async function openBundle(read) {
  const text = (buffer) => new TextDecoder("utf-8", { fatal: true }).decode(buffer);
  const manifest = JSON.parse(text(await read("manifest.json")));
  if (manifest.format !== FORMAT) throw new BundleError("manifest.json is not a bundle's");
  if (manifest.version !== VERSION) throw new BundleError(`the bundle has version ${manifest.version}; this reads ${VERSION}`);
  const file = async (name) => check(name, await read(name), manifest.files[name]);
  return { manifest, file, text: async (name) => text(await file(name)), json: async (name) => JSON.parse(text(await file(name))) };
}

/**
 * What a keyboard is made of, from a bundle.
 * @param {(name: string) => Promise<ArrayBuffer>} read
 * @param {any} ort the module onnxruntime-web
 * @returns {Promise<import("./keyboard.js").Parts>}
 */
export async function readBundle(read, ort) {
  const bundle = await openBundle(read);
  const [layout, constants] = await Promise.all(["layout.json", "constants.json"].map((name) => bundle.json(name)));
  const { models, language, context: before, fluency: grams } = bundle.manifest;
  if (constants.scoring.fluency_weight && !grams) throw new BundleError("the manifest names no fluency, which the constants want");
  const { trie, lexicon } = readTrie(await bundle.file("trie.bin"), language);
  const files = {};
  for (const name of ["encoder", "decoder", "matcher"]) files[name] = models[name] ? await bundle.file(models[name].file) : null;
  const networks = await Networks.create(ort, files);
  const context = before ? readContext(await bundle.file(before.file), constants.context) : null;
  const fluency = grams ? new Fluency(new Uint8Array(await bundle.file(grams.file)), grams.order, trie.letters.length + 1) : null;
  const languages = new Languages(lexicon, { main: 1, decade: 1, lacking: 0 });
  return { bundle, layout, lexicon, languages, trie, constants, networks, context, fluency };
}

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
