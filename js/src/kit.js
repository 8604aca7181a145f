// A kit: what a page needs to decode on any layout in any of its languages. Its files are read when they are first needed.

import { ContextError, readContext } from "./context.js";
import { growTree } from "./grow.js";
import { Keyboard } from "./keyboard.js";
import { Contexts, LanguageError, Languages } from "./languages.js";
import { LexiconError, joinLexicons, readLexicon } from "./lexicon.js";
import { buildFluency } from "./literal.js";
import { Networks } from "./networks.js";
import { Typing } from "./typing.js";

const FORMAT = "glissando-kit";
const VERSION = 1;
const GZIP = [0x1f, 0x8b]; // the first bytes of such a file
const KEPT = 4; // lists, contexts and tries that are kept for the next keyboard
const MAX_KEYS = 64; // of the encoder
const MAX_LANGUAGES = 3; // of one keyboard

const OTHERS = [ContextError, LanguageError, LexiconError];

/** What is wrong with a kit, or with what was asked of it, in a sentence. */
export class KitError extends Error {}

/**
 * @param {import("./types.js").Read} read the bytes of a file of the kit
 * @param {any} ort the module onnxruntime-web
 * @param {any} [index] the content of index.json, where it is known already
 * @returns {Promise<Kit>}
 */
export async function openKit(read, ort, index) {
  return new Kit(read, ort, index ?? await readIndex(read));
}

/** @param {import("./types.js").Read} read */
async function readIndex(read) {
  const bytes = await read("index.json");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new KitError("index.json is damaged: it is not JSON");
  }
}

export class Kit {
  /** @type {Promise<Networks> | null} */
  #networks = null;
  #words = new Recent(KEPT);
  #contexts = new Recent(KEPT);
  #tries = new Recent(KEPT);

  /**
   * @param {import("./types.js").Read} read
   * @param {any} ort
   * @param {any} index
   */
  constructor(read, ort, index) {
    if (index?.format !== FORMAT) throw new KitError("index.json is not a kit's");
    if (index.version !== VERSION) throw new KitError(`the kit has version ${index.version}; this reads ${VERSION}`);
    this.read = read;
    this.ort = ort;
    this.index = index;
  }

  /** The layouts that come with the kit. @returns {import("./types.js").Layout[]} */
  get layouts() {
    return this.index.layouts;
  }

  /** The codes of the languages. @returns {string[]} */
  get languages() {
    return Object.keys(this.index.languages);
  }

  /**
   * Makes a keyboard.
   * @param {string | import("./types.js").Layout} layout the name of one of the kit's, or any
   * @param {string[]} codes of its languages, the main one first
   * @returns {Promise<Keyboard>}
   */
  async keyboard(layout, codes) {
    this.#checkLanguages(codes);
    try {
      return new Keyboard(await this.#parts(this.#layout(layout), codes));
    } catch (error) {
      // What is wrong with a list, a context or the letters of a layout is wrong with the kit or what was asked of it.
      throw OTHERS.some((Kind) => error instanceof Kind) ? new KitError(messageOf(error), { cause: error }) : error;
    }
  }

  /** The networks, which all keyboards share. @returns {Promise<Networks>} */
  networks() {
    const { encoder, matcher } = this.index.models;
    this.#networks ??= Promise.all([this.file(encoder), this.file(matcher)]).then(async ([first, second]) => {
      try {
        return await Networks.create(this.ort, { encoder: first, matcher: second });
      } catch (error) {
        throw new KitError(`the networks cannot be run: ${messageOf(error)}`, { cause: error });
      }
    });
    this.#networks.catch(() => { this.#networks = null; }); // another try may succeed
    return this.#networks;
  }

  /**
   * A file of the kit, decompressed.
   * @param {string} name
   * @returns {Promise<ArrayBuffer>}
   */
  async file(name) {
    return decompress(name, await this.read(name));
  }

  /**
   * @param {import("./types.js").Layout} layout
   * @param {string[]} codes
   * @returns {Promise<import("./keyboard.js").Parts>}
   */
  async #parts(layout, codes) {
    const [networks, lists, contexts] = await Promise.all([
      this.networks(),
      Promise.all(codes.map((code) => this.#lexicon(code))),
      Promise.all(codes.map((code) => this.#context(code))),
    ]);
    const { index } = this;
    const letters = [...new Set(layout.keys.map((key) => key.letter))];
    // All arrangements of the same letters share one trie.
    const words = await this.#tries.get(`${codes} ${letters.join("")}`, () => this.#plant(lists, letters));
    const context = codes.length === 1 ? contexts[0] : contexts.some(Boolean) ? new Contexts(words.languages, contexts) : null;
    const scoring = (codes.length === 1 && index.scoring[codes[0]]) || index.scoring.general;
    return { layout, ...words, constants: { ...index.constants, scoring }, networks, context };
  }

  /**
   * The lexicon on the letters of a layout, and which letters follow which.
   * @param {import("./lexicon.js").Lexicon[]} lists
   * @param {string[]} letters
   */
  #plant(lists, letters) {
    const { constants } = this.index;
    const lexicon = joinLexicons(lists);
    const languages = new Languages(lexicon, constants.languages);
    const spelled = new Typing(letters, constants.typed_as).lexicon(lexicon);
    const trie = growTree(letters, spelled, lexicon.frequencies);
    languages.requireTyped(trie);
    return { lexicon, languages, trie, fluency: buildFluency(lexicon, spelled, letters.length, constants.fluency) };
  }

  /**
   * @param {string} code
   * @returns {Promise<import("./lexicon.js").Lexicon>}
   */
  #lexicon(code) {
    return this.#words.get(code, async () => readLexicon(await this.file(this.index.languages[code].words), code));
  }

  /**
   * @param {string} code
   * @returns {Promise<import("./context.js").Context> | null}
   */
  #context(code) {
    const { context: name } = this.index.languages[code];
    const constants = { ...this.index.constants.context, elisions: this.index.elisions[code] ?? [] };
    return name ? this.#contexts.get(code, async () => readContext(await this.file(name), constants)) : null;
  }

  /** @param {string[]} codes */
  #checkLanguages(codes) {
    const known = this.index.languages;
    const unknown = codes.find((code) => !Object.hasOwn(known, code));
    if (unknown !== undefined) throw new KitError(`no language "${unknown}"; there are ${Object.keys(known).join(", ")}`);
    if (!codes.length || codes.length > MAX_LANGUAGES || new Set(codes).size < codes.length) {
      throw new KitError(`a keyboard has one to ${MAX_LANGUAGES} different languages, not ${codes.join(", ") || "none"}`);
    }
  }

  /**
   * @param {string | import("./types.js").Layout} asked
   * @returns {import("./types.js").Layout}
   */
  #layout(asked) {
    if (typeof asked !== "string") return checkLayout(asked);
    const found = this.layouts.find((one) => one.name === asked);
    if (!found) throw new KitError(`no layout "${asked}"; there are ${this.layouts.map((one) => one.name).join(", ")}`);
    return found;
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** The last few of some things, by their names; each is made once. */
class Recent {
  /** @param {number} size */
  constructor(size) {
    this.size = size;
    /** @type {Map<string, Promise<any>>} */
    this.things = new Map();
  }

  /**
   * @template T
   * @param {string} name
   * @param {() => T | Promise<T>} make
   * @returns {Promise<T>}
   */
  get(name, make) {
    const thing = this.things.get(name) ?? Promise.resolve().then(make);
    this.things.delete(name);
    this.things.set(name, thing); // the last one
    thing.catch(() => { if (this.things.get(name) === thing) this.things.delete(name); }); // another try may succeed
    if (this.things.size > this.size) this.things.delete(/** @type {string} */ (this.things.keys().next().value));
    return thing;
  }
}

/**
 * @param {string} name
 * @param {ArrayBuffer} buffer
 * @returns {Promise<ArrayBuffer>}
 */
async function decompress(name, buffer) {
  const bytes = new Uint8Array(buffer);
  if (!GZIP.every((byte, i) => bytes[i] === byte)) return buffer; // a web server may have done it
  try {
    return await new Response(new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  } catch {
    throw new KitError(`${name} is damaged: it cannot be decompressed`);
  }
}

/**
 * A layout whose keys can be swiped, in one order of keys: so all arrangements of the same letters share one trie.
 * @param {import("./types.js").Layout} layout
 * @returns {import("./types.js").Layout}
 */
function checkLayout(layout) {
  const keys = Array.isArray(layout?.keys) ? layout.keys : [];
  if (!keys.length || keys.length > MAX_KEYS) throw new KitError(`a layout has 1 to ${MAX_KEYS} keys, not ${keys.length}`);
  for (const key of keys) {
    const sizes = [key?.cx, key?.cy, key?.rx, key?.ry];
    if (typeof key?.letter !== "string" || [...key.letter].length !== 1) throw new KitError("a key of a layout carries one letter");
    if (!sizes.every(Number.isFinite) || key.rx <= 0 || key.ry <= 0) throw new KitError(`key "${key.letter}" of the layout needs numbers cx, cy, rx and ry`);
  }
  if (!(layout.aspect > 0 && layout.aspect < Infinity)) throw new KitError("a layout needs an aspect, its height over its width");
  /** @typedef {import("./types.js").Key} Key */
  const order = (/** @type {Key} */ a, /** @type {Key} */ b) => (a.letter < b.letter ? -1 : a.letter > b.letter ? 1 : a.cx - b.cx || a.cy - b.cy);
  return { ...layout, keys: [...keys].sort(order) };
}
