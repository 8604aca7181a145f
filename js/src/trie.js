// Reads trie.bin: the words of a lexicon as flat arrays that the beam walks.

import { crc32, items } from "./binary.js";
import { Lexicon } from "./lexicon.js";
import { WordTree } from "./tree.js";

const MAGIC = "GLSTRIE\0";
const VERSION = 1;
const HEADER = 40; // bytes
const ENTRY = 16; // bytes of a section in the table

export class TrieError extends Error {}

/**
 * @param {ArrayBuffer} buffer the whole file
 * @param {string} [language] its code, which the file does not know
 * @returns {{trie: WordTree, lexicon: Lexicon}} the lexicon has the words in the order of the trie
 */
export function readTrie(buffer, language = "") {
  const bytes = new Uint8Array(buffer);
  const view = new DataView(buffer);
  const tag = (/** @type {number} */ at, /** @type {number} */ length) => String.fromCharCode(...bytes.subarray(at, at + length));
  if (bytes.length < HEADER || tag(0, 8) !== MAGIC) throw new TrieError("this is no trie.bin");
  const [version, size, , , , , count, checksum] = Array.from({ length: 8 }, (_, i) => view.getUint32(8 + 4 * i, true));
  if (version !== VERSION) throw new TrieError(`trie.bin has version ${version}; this reads ${VERSION}`);
  const head = bytes.slice(0, HEADER + ENTRY * count);
  head.fill(0, HEADER - 4, HEADER);
  if (size !== bytes.length || crc32(head) !== checksum) throw new TrieError("trie.bin is damaged: its header does not fit");
  /** @type {Record<string, any>} */
  const sections = {};
  for (let i = 0; i < count; i += 1) {
    const at = HEADER + ENTRY * i;
    const [offset, length, expected] = [4, 8, 12].map((field) => view.getUint32(at + field, true));
    const name = tag(at, 4);
    if (crc32(bytes.subarray(offset, offset + length)) !== expected) throw new TrieError(`trie.bin is damaged: section ${name}`);
    sections[name] = WIDE.has(name) ? items(buffer, Uint32Array, offset, length / 4) : bytes.subarray(offset, offset + length);
  }
  const lexicon = new Lexicon({ languages: [language], text: sections.TEXT, offsets: sections.TOFF, frequencies: sections.FREQ });
  const trie = new WordTree(Array.from(sections.LETR, (code) => String.fromCodePoint(code)), {
    children: sections.CHLD,
    labels: sections.LABL,
    endings: sections.ENDS,
    words: Uint32Array.from(sections.FREQ, (_, place) => place),
    frequencies: sections.FREQ,
  });
  return { trie, lexicon };
}

const WIDE = new Set(["LETR", "CHLD", "ENDS", "TOFF"]);
