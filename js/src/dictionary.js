// The words that a keyboard can write: those of its lexicon, the person's own, and any string of letters.

import { readLetters } from "./literal.js";
import { foldCase } from "./typing.js";

const RESTRICTED = 16; // tries of tapped beginnings and ends that are kept
export const LEXICON = /** @type {const} */ ("lexicon");
export const OWN = /** @type {const} */ ("own");
export const LITERAL = /** @type {const} */ ("literal");
/** @type {import("./types.js").Affixes} */
export const NO_AFFIXES = { prefix: [], suffix: [] };

/**
 * @typedef {object} Spelling a string of letters that a swipe may mean
 * @property {"lexicon" | "own" | "literal"} source
 * @property {import("./tree.js").Tree} tree
 * @property {number} node in the tree
 * @property {number[]} labels its letters
 * @property {number} logProb
 * @property {number} frequency byte of its most frequent word; 0 for a literal
 * @property {number} fluency log-probability of a literal in the language; 0 for words
 * @property {number} location
 * @property {number} shape how well the swipe follows its keys; 0 where the scoring has no use for it
 */

/**
 * @typedef {object} Own the person's words on the layout
 * @property {import("./tree.js").WordTree} tree
 * @property {string[]} words
 * @property {number[]} bytes
 * @property {boolean[]} isNew whether the lexicon lacks each
 * @property {Map<number, number>} raised bytes of those that the lexicon has, by their index there
 */

/**
 * @typedef {object} Form a word of a spelling
 * @property {number} row of the spelling
 * @property {number} word its index in the lexicon, or -1 where the text is given
 * @property {string | null} text
 * @property {number} frequency byte
 */

export class Dictionary {
  /**
   * @param {object} parts
   * @param {import("./lexicon.js").Lexicon} parts.lexicon
   * @param {import("./tree.js").WordTree} parts.trie the lexicon on the letters of the layout
   * @param {import("./typing.js").Typing} parts.typing
   * @param {import("./vocabulary.js").Vocabulary} parts.vocabulary the person's own words
   * @param {import("./literal.js").Fluency | null} parts.fluency null where no literals are read
   * @param {{listed: import("./beam.js").Beam, own: import("./beam.js").Beam}} parts.beams
   * @param {import("./types.js").Constants} parts.constants
   */
  constructor({ lexicon, trie, typing, vocabulary, fluency, beams, constants }) {
    this.lexicon = lexicon;
    this.trie = trie;
    this.typing = typing;
    this.vocabulary = vocabulary;
    this.fluency = fluency;
    this.beams = beams;
    this.literals = { ...constants.literals, sure_blank: constants.search.sure_blank };
    /** @private @type {Map<string, import("./tree.js").WordTree>} */
    this.restricted = new Map();
    /** @private @type {Own | null} */
    this.kept = null;
  }

  /**
   * Letters that were tapped, as labels; an error where one is not on the layout.
   * @param {string} prefix
   * @param {string} suffix
   * @returns {import("./types.js").Affixes}
   */
  affixes(prefix, suffix) {
    return { prefix: this.typing.tapped(prefix), suffix: this.typing.tapped(suffix) };
  }

  /**
   * The trees that are searched for words between tapped letters.
   * @param {import("./types.js").Affixes} affixes
   * @returns {{lexicon: import("./tree.js").WordTree, own: import("./tree.js").WordTree | null, literal: null}} no own one
   *   where the lexicon has all of the person's words
   */
  trees(affixes) {
    const own = this.#own();
    return { [LEXICON]: this.#restricted(affixes), [OWN]: own?.isNew.some(Boolean) ? own.tree.restricted(affixes) : null, [LITERAL]: null };
  }

  /**
   * The words that a swipe may mean, those of the lexicon first.
   * @param {Float32Array} logProbs [frames, letters + 1]
   * @returns {Spelling[]}
   */
  search(logProbs, affixes = NO_AFFIXES) {
    const { lexicon: trie, own: tree } = this.trees(affixes);
    const listed = this.beams.listed.search(logProbs, trie).map(({ node, logProb }) => {
      return spelling(LEXICON, trie, node, logProb, trie.frequencies[trie.endings[node]]); // of the most frequent word
    });
    const own = this.#own();
    if (!tree || !own) return listed;
    const found = this.beams.own.search(logProbs, tree).map(({ node, logProb }) => {
      const bytes = tree.wordsAt(node).filter((word) => own.isNew[word]).map((word) => own.bytes[word]);
      return spelling(OWN, tree, node, logProb, Math.max(-1, ...bytes));
    });
    return [...listed, ...found.filter(({ frequency }) => frequency >= 0)];
  }

  /**
   * What a swipe spells without a lexicon: the best strings of letters that are no words.
   * @param {Float32Array} logProbs [frames, letters + 1]
   * @returns {Spelling[]}
   */
  read(logProbs, affixes = NO_AFFIXES) {
    if (!this.fluency) return [];
    const { tree, found } = readLetters(logProbs, this.trie.letters, this.fluency, this.literals, affixes);
    const own = this.#own();
    return found
      .map(({ node, logProb, fluency }) => ({ ...spelling(LITERAL, tree, node, logProb, 0), fluency }))
      .filter(({ labels }) => labels.length > 1 && labels.length <= this.literals.longest)
      .filter(({ labels }) => !this.trie.holds(labels) && !own?.tree.holds(labels))
      .slice(0, this.literals.strings);
  }

  /**
   * Every word of some spellings: the lexicon's, then the person's, then literals.
   * @param {Spelling[]} spellings
   * @returns {Form[]}
   */
  forms(spellings) {
    const own = this.#own();
    /** @type {Record<Spelling["source"], Form[]>} */
    const forms = { [LEXICON]: [], [OWN]: [], [LITERAL]: [] };
    spellings.forEach(({ source, tree, node, labels }, row) => {
      if (source === LITERAL) forms[LITERAL].push({ row, word: -1, text: labels.map((label) => tree.letters[label]).join(""), frequency: 0 });
      else for (const word of /** @type {import("./tree.js").WordTree} */ (tree).wordsAt(node)) {
        if (source === LEXICON) {
          const frequency = Math.max(this.lexicon.frequencies[word], own?.raised.get(word) ?? 0); // of a word that the person uses
          forms[LEXICON].push({ row, word, text: null, frequency });
        } else if (own?.isNew[word]) forms[OWN].push({ row, word: -1, text: own.words[word], frequency: own.bytes[word] });
      }
    });
    return [...forms[LEXICON], ...forms[OWN], ...forms[LITERAL]];
  }

  /**
   * A word as it is written.
   * @param {Form} form
   * @returns {string}
   */
  write({ word, text }) {
    return text ?? this.lexicon.word(word);
  }

  /**
   * Whether a word can be written, in any case: the lexicon has it, or the person.
   * @param {string} word
   */
  has(word) {
    const labels = this.typing.word(word);
    const folded = foldCase(word);
    const own = this.#own();
    if (!labels.length) return false;
    return this.trie.wordsOf(labels).some((one) => foldCase(this.lexicon.word(one)) === folded)
      || Boolean(own?.tree.wordsOf(labels).some((one) => foldCase(own.words[one]) === folded));
  }

  /**
   * The index of a word in the lexicon, of which the labels are known; -1 where it is missing.
   * @param {string} word
   * @param {number[]} labels
   */
  #listed(word, labels) {
    return this.trie.wordsOf(labels).find((one) => this.lexicon.word(one) === word) ?? -1;
  }

  /**
   * The lexicon's trie between tapped letters; the last few are kept.
   * @param {import("./types.js").Affixes} affixes
   */
  #restricted(affixes) {
    if (!affixes.prefix.length && !affixes.suffix.length) return this.trie;
    const key = `${affixes.prefix}|${affixes.suffix}`;
    const trie = this.restricted.get(key) ?? this.trie.restricted(affixes);
    this.restricted.delete(key);
    this.restricted.set(key, trie); // the last one
    if (this.restricted.size > RESTRICTED) this.restricted.delete([...this.restricted.keys()][0]);
    return trie;
  }

  /**
   * The person's words and which of them the lexicon lacks; null where there are none.
   * @returns {Own | null}
   */
  #own() {
    if (!this.vocabulary.uses.size) return null;
    const found = this.vocabulary.lookUp(this.trie.letters, this.typing);
    if (this.kept?.tree !== found.tree) {
      const listed = found.words.map((word, i) => this.#listed(word, found.spelled[i]));
      const raised = new Map();
      listed.forEach((word, i) => { if (word >= 0) raised.set(word, found.bytes[i]); });
      const { tree, words, bytes } = found;
      this.kept = { tree, words, bytes, isNew: listed.map((word) => word < 0), raised };
    }
    return this.kept;
  }
}

/**
 * @param {Spelling["source"]} source
 * @param {import("./tree.js").Tree} tree
 * @param {number} node
 * @param {number} logProb
 * @param {number} frequency
 * @returns {Spelling}
 */
function spelling(source, tree, node, logProb, frequency) {
  return { source, tree, node, labels: tree.spellLabels(node), logProb, frequency, fluency: 0, location: 0, shape: 0 };
}
