// Several languages on one keyboard: which of them a text is in, and what that says of a word.
//
// The last words of a text say which language it is in: a hidden Markov model whose state is the language, in which the
// language may change before each word. With its posterior a word's probability is the sum of posterior_g P_g(w).

import { writtenWords } from "./context.js";
import { foldCase } from "./typing.js";

const REMEMBERED = 1024; // words whose evidence is kept at hand
const NOT_ASKED = -2; // number of a word that was not looked up in a context yet

export class LanguageError extends Error {}

/** @typedef {import("./lexicon.js").Lexicon} Lexicon */

/**
 * @typedef {object} Constants the kit's "languages"
 * @property {number} decade bytes for ten times the frequency
 * @property {number} tail characters of a text that are looked at
 * @property {number} memory words of it that count
 * @property {number} switch probability that the next word is in a language drawn anew from the prior
 * @property {number} main prior of the language that is named first; the others share the rest
 * @property {number} lacking bytes by which a word that a language lacks is rarer than the rarest of its list
 * @property {number} typed share of a language's words that must have a letter on the layout
 */

/** The languages of a lexicon: G of them. */
export class Languages {
  /** @type {Map<string, number[] | null>} of the words that were asked for last */
  #evidence = new Map();

  /**
   * @param {Lexicon} lexicon
   * @param {Constants} constants
   * @param {number[]} [prior] the probability of each language before any word is known
   */
  constructor(lexicon, constants, prior = defaultPrior(lexicon.languages.length, constants.main)) {
    this.lexicon = lexicon;
    this.constants = constants;
    this.names = lexicon.languages;
    if (prior.length !== this.names.length || !prior.every((one) => one > 0 && one < Infinity)) {
      throw new LanguageError(`the prior of ${this.names.join(", ")} is ${this.names.length} positive numbers, got ${prior.join(", ")}`);
    }
    const sum = prior.reduce((total, one) => total + one, 0);
    /** @type {number[]} */
    this.prior = prior.map((one) => one / sum);
    /** @type {Uint8Array[]} for each language [W] */
    this.bytes = lexicon.byLanguage ?? [lexicon.frequencies.map((byte) => Math.max(byte, 1))];
    // How frequent a word of each byte is, with that of byte 0 as the unit; a language does not have such words.
    this.chances = Float64Array.from({ length: 256 }, (_, byte) => (byte ? 10 ** (byte / constants.decade) : 0));
    this.absent = this.bytes.map((row) => lowest(row) - constants.lacking); // the byte that stands for a missing word
  }

  /**
   * The probability of each language for the word after a text; the prior where no text is known.
   * @param {string | null} text
   * @returns {number[]} [G]
   */
  posterior(text) {
    if (!text || this.names.length === 1) return this.prior;
    const { tail, memory, switch: change } = this.constants;
    const characters = [...text.slice(-2 * tail - 1)]; // code points, of which one may take two units
    const words = writtenWords(characters.slice(-tail).join("").replaceAll("’", "'"));
    let after = this.prior; // the posterior for the word after those seen so far
    for (const word of words.slice(characters.length > tail ? 1 : 0).slice(-memory)) { // the first may be cut in half
      const evidence = this.#remember(word);
      if (!evidence) continue;
      const joint = after.map((old, g) => old * evidence[g]);
      const total = joint.reduce((sum, one) => sum + one, 0);
      after = joint.map((one, g) => ((1 - change) * one) / total + change * this.prior[g]);
    }
    return after;
  }

  /**
   * The bytes of words in a text of these languages: those of P(w), divided by the highest posterior. So words of the
   * likeliest language keep their bytes, and constants that were tuned on one language hold.
   * @param {number[]} words indices into the lexicon
   * @param {number[]} posterior [G]
   * @param {number} [floor] rarer words of a language count as this frequent in it
   * @returns {number[]} they can be negative
   */
  frequencies(words, posterior, floor = 0) {
    const highest = Math.max(...posterior);
    const least = 10 ** (floor / this.constants.decade);
    return words.map((word) => {
      const weights = this.#weights(word, posterior, least);
      return this.constants.decade * Math.log10(weights.reduce((sum, one) => sum + one, 0) / highest);
    });
  }

  /**
   * What a text adds to the bytes of words: `frequencies` less the bytes that they have alone.
   * @param {number[]} words indices into the lexicon; one below 0 is in no list and gets nothing
   * @param {number[]} posterior [G]
   * @param {number} floor rarer words count as this frequent
   * @returns {number[]}
   */
  shift(words, posterior, floor) {
    const mixed = this.frequencies(words.map((word) => Math.max(word, 0)), posterior, floor);
    return words.map((word, i) => (word < 0 ? 0 : mixed[i] - Math.max(this.lexicon.frequencies[word], floor)));
  }

  /**
   * The probability of each language for each of some words.
   * @param {number[]} words indices into the lexicon
   * @param {number[]} posterior [G]
   * @returns {number[][]} for each word [G]
   */
  shares(words, posterior) {
    return words.map((word) => {
      const weights = this.#weights(word, posterior);
      const sum = weights.reduce((total, one) => total + one, 0);
      return weights.map((one) => one / sum);
    });
  }

  /**
   * The language that each of some words most likely is in.
   * @param {number[]} words indices into the lexicon; one below 0 is in no list and has the language of the text
   * @param {number[]} posterior [G]
   * @returns {string[]} codes
   */
  languageOf(words, posterior) {
    return words.map((word) => this.names[highestPlace(word < 0 ? posterior : this.#weights(word, posterior))]);
  }

  /**
   * Refuses a trie on whose letters one of the languages cannot be typed.
   * @param {{letters: string[], words: ArrayLike<number>}} trie its words are indices into the lexicon
   */
  requireTyped({ letters, words }) {
    this.names.forEach((name, g) => {
      const row = this.bytes[g];
      let [typed, known] = [0, 0];
      for (let i = 0; i < words.length; i += 1) if (row[words[i]]) typed += 1;
      for (let i = 0; i < row.length; i += 1) if (row[i]) known += 1;
      if (typed < this.constants.typed * known) {
        const told = letters.join("").slice(0, 40);
        throw new LanguageError(`language "${name}" cannot be typed with the letters ${told}: of its ${known} words ${typed} have a letter there`);
      }
    });
  }

  /**
   * posterior_g P_g(w) of one word, with the P of byte 0 as the unit; rarer ones of a language count as `least`.
   * @param {number} word
   * @param {number[]} posterior [G]
   * @param {number} [least]
   * @returns {number[]} [G]
   */
  #weights(word, posterior, least = 1) {
    return posterior.map((share, g) => {
      const chance = this.chances[this.bytes[g][word]];
      return chance ? share * Math.max(chance, least) : 0;
    });
  }

  /**
   * A word's evidence, looked up once while it is used.
   * @param {string} word
   */
  #remember(word) {
    let found = this.#evidence.get(word);
    if (found === undefined) found = this.#lookUp(word);
    else this.#evidence.delete(word);
    this.#evidence.set(word, found); // the last one
    if (this.#evidence.size > REMEMBERED) this.#evidence.delete(/** @type {string} */ (this.#evidence.keys().next().value));
    return found;
  }

  /**
   * A word's probability in each language, up to a factor; null where no language has it.
   * @param {string} word
   * @returns {number[] | null}
   */
  #lookUp(word) {
    // As it is written, in lower case, and as a lexicon may write it ("gross" for "groß").
    const forms = [...new Set([word, word.toLowerCase(), foldCase(word)])].map((form) => this.lexicon.find(form)).filter((at) => at >= 0);
    const bytes = this.bytes.map((row) => Math.max(0, ...forms.map((at) => row[at])));
    if (!bytes.some(Boolean)) return null;
    const levels = bytes.map((byte, g) => byte || this.absent[g]);
    const most = Math.max(...levels);
    return levels.map((level) => 10 ** ((level - most) / this.constants.decade));
  }
}

/**
 * Which words follow which in several languages, with the interface of one `Context`. A word's number is its index in
 * the lexicon. A state keeps the posterior of the text it began with.
 *
 * @typedef {{posterior: number[], states: number[][]}} State the state of a language without a context is empty
 */
export class Contexts {
  /**
   * @param {Languages} languages G languages
   * @param {(import("./context.js").Context | null)[]} contexts of each; null where there is none: its words gain nothing
   */
  constructor(languages, contexts) {
    if (contexts.length !== languages.names.length) {
      throw new LanguageError(`${contexts.length} contexts for the languages ${languages.names.join(", ")}`);
    }
    this.languages = languages;
    this.contexts = contexts;
    this.numbers = contexts.map((one) => one && new Int32Array(languages.lexicon.frequencies.length).fill(NOT_ASKED));
  }

  /**
   * @param {string} word
   * @returns {number} its index in the lexicon, -1 where that lacks it
   */
  number(word) {
    return this.languages.lexicon.find(word);
  }

  /**
   * @param {string} text
   * @returns {State}
   */
  state(text) {
    return { posterior: this.languages.posterior(text), states: this.contexts.map((one) => one?.state(text) ?? []) };
  }

  /**
   * The state after one more word.
   * @param {State} state
   * @param {number} word its number
   * @returns {State}
   */
  advance({ posterior, states }, word) {
    return { posterior, states: this.contexts.map((one, g) => one?.advance(states[g], this.numberIn(g, word)) ?? []) };
  }

  /**
   * What may follow a state.
   * @param {State} state
   * @returns {Outlooks}
   */
  follow({ posterior, states }) {
    return new Outlooks(this, posterior, this.contexts.map((one, g) => one && one.follow(states[g])));
  }

  /**
   * What may follow a text.
   * @param {string} text
   * @returns {Outlooks}
   */
  after(text) {
    return this.follow(this.state(text));
  }

  /**
   * The number of a word in the context of one language, looked up when it is first asked for.
   * @param {number} language its place
   * @param {number} word its index in the lexicon, -1 for one that this lacks
   * @returns {number}
   */
  numberIn(language, word) {
    const [context, numbers] = [this.contexts[language], this.numbers[language]];
    if (!context || !numbers || word < 0) return -1;
    if (numbers[word] === NOT_ASKED) numbers[word] = context.number(this.languages.lexicon.word(word));
    return numbers[word];
  }
}

/** What may follow in one place of a text in several languages. */
export class Outlooks {
  /**
   * @param {Contexts} contexts
   * @param {number[]} posterior [G] how likely the next word is in each language
   * @param {(import("./context.js").Outlook | null)[]} outlooks [G] what each context says
   */
  constructor(contexts, posterior, outlooks) {
    this.contexts = contexts;
    this.posterior = posterior;
    this.outlooks = outlooks;
  }

  /** ln of what a word's probability is multiplied by if it was never seen here, over all languages. */
  get unseen() {
    return Math.log(this.outlooks.reduce((sum, one, g) => sum + this.posterior[g] * (one ? Math.exp(one.unseen) : 1), 0));
  }

  /**
   * What words gain over one never seen here: ln of the mean of exp(gain), by the word's shares of languages.
   * @param {number[]} words indices into the lexicon; one below 0 gains nothing
   * @returns {number[]} in nats
   */
  gains(words) {
    const gained = this.outlooks.map((one, g) => one && one.gains(words.map((word) => this.contexts.numberIn(g, word))));
    return words.map((word, i) => {
      if (word < 0 || !gained.some(Boolean)) return 0;
      const [shares] = this.contexts.languages.shares([word], this.posterior);
      return Math.log(shares.reduce((sum, share, g) => sum + share * Math.exp(gained[g]?.[i] ?? 0), 0));
    });
  }
}

/**
 * @param {number} count languages
 * @param {number} main the probability of the first
 */
function defaultPrior(count, main) {
  return Array.from({ length: count }, (_, g) => (count === 1 ? 1 : g ? (1 - main) / (count - 1) : main));
}

/**
 * The lowest byte of the words that a language has.
 * @param {Uint8Array} row 0 where it lacks a word
 */
function lowest(row) {
  let least = 255;
  for (let i = 0; i < row.length; i += 1) if (row[i] && row[i] < least) least = row[i];
  return least;
}

/** @param {number[]} values */
function highestPlace(values) {
  return values.indexOf(Math.max(...values));
}
