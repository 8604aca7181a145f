// Reads trie.bin: the words of a lexicon as flat arrays that the beam walks.

import { crc32, items } from "./binary.js";

const MAGIC = "GLSTRIE\0";
const VERSION = 1;
const HEADER = 40; // bytes
const ENTRY = 16; // bytes of a section in the table

export class TrieError extends Error {}

export class Trie {
  // letters: strings; children, endings: offsets by node; labels: the letter of each node; parents, depths, best: derived.
  constructor(sections, counts) {
    this.letters = Array.from(sections.LETR, (code) => String.fromCodePoint(code));
    this.children = sections.CHLD;
    this.labels = sections.LABL;
    this.endings = sections.ENDS;
    this.frequencies = sections.FREQ;
    this.textOffsets = sections.TOFF;
    this.text = sections.TEXT;
    this.size = counts.nodes;
    this.parents = new Uint32Array(counts.nodes);
    this.depths = new Uint8Array(counts.nodes);
    for (let node = 0; node < counts.nodes; node += 1) {
      for (let child = this.children[node]; child < this.children[node + 1]; child += 1) {
        this.parents[child] = node;
        this.depths[child] = this.depths[node] + 1;
      }
    }
    this.best = new Uint8Array(counts.nodes); // the highest frequency byte of the words at or below each node
    for (let node = counts.nodes - 1; node >= 0; node -= 1) {
      for (let word = this.endings[node]; word < this.endings[node + 1]; word += 1) {
        this.best[node] = Math.max(this.best[node], this.frequencies[word]);
      }
      const parent = this.parents[node];
      this.best[parent] = Math.max(this.best[parent], this.best[node]);
    }
    this.decoder = new TextDecoder("utf-8", { fatal: true });
  }

  word(index) {
    return this.decoder.decode(this.text.subarray(this.textOffsets[index], this.textOffsets[index + 1]));
  }

  spell(node) {
    return this.spellLabels(node).map((label) => this.letters[label]).join("");
  }

  // The letters on the way to a node, as labels.
  spellLabels(node) {
    const labels = [];
    for (let at = node; at > 0; at = this.parents[at]) labels.push(this.labels[at]);
    return labels.reverse();
  }
}

// buffer: an ArrayBuffer with the whole file.
export function readTrie(buffer) {
  const bytes = new Uint8Array(buffer);
  const view = new DataView(buffer);
  const tag = (at, length) => String.fromCharCode(...bytes.subarray(at, at + length));
  if (bytes.length < HEADER || tag(0, 8) !== MAGIC) throw new TrieError("this is no trie.bin");
  const [version, size, letters, nodes, words, , count, checksum] = Array.from({ length: 8 }, (_, i) => view.getUint32(8 + 4 * i, true));
  if (version !== VERSION) throw new TrieError(`trie.bin has version ${version}; this reads ${VERSION}`);
  const head = bytes.slice(0, HEADER + ENTRY * count);
  head.fill(0, HEADER - 4, HEADER);
  if (size !== bytes.length || crc32(head) !== checksum) throw new TrieError("trie.bin is damaged: its header does not fit");
  const sections = {};
  for (let i = 0; i < count; i += 1) {
    const at = HEADER + ENTRY * i;
    const [offset, length, expected] = [4, 8, 12].map((field) => view.getUint32(at + field, true));
    const name = tag(at, 4);
    if (crc32(bytes.subarray(offset, offset + length)) !== expected) throw new TrieError(`trie.bin is damaged: section ${name}`);
    sections[name] = WIDE.has(name) ? items(buffer, Uint32Array, offset, length / 4) : bytes.subarray(offset, offset + length);
  }
  return new Trie(sections, { letters, nodes, words });
}

const WIDE = new Set(["LETR", "CHLD", "ENDS", "TOFF"]);
