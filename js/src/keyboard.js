// A keyboard: layout, words, networks and constants bound together. Points in, candidates out; nothing leaves the page.

import { Beam } from "./beam.js";
import { BundleError, readBundle } from "./bundle.js";
import { Dictionary, LITERAL, NO_AFFIXES } from "./dictionary.js";
import { explain } from "./explain.js";
import { Ruler, median } from "./geometry.js";
import { contributions } from "./habits.js";
import { contenders, letterKeys, spellKeys, spread, toKeyWidths } from "./match.js";
import { Reader } from "./reader.js";
import { checkPoints, resample } from "./resample.js";
import { reweigh } from "./rescore.js";
import { isGeometric, rank, score, scoreSpelling, shares } from "./scoring.js";
import { bestSequence } from "./sentence.js";
import { Typing } from "./typing.js";
import { Vocabulary, VocabularyError } from "./vocabulary.js";

const NOT_LOOKED_UP = -2; // of a word's number in the context

/** @typedef {import("./dictionary.js").Spelling} Spelling */
/** @typedef {import("./reader.js").Reading} Reading */
/** @typedef {import("./scoring.js").Finalists} Finalists */
/** @typedef {import("./types.js").Candidates} Candidates */
/** @typedef {import("./types.js").Points} Points */
/** @typedef {import("./types.js").Scoring} Scoring */
/** @typedef {import("./types.js").Tapped} Tapped */

/**
 * @typedef {object} Parts what a keyboard is made of
 * @property {import("./types.js").Layout} layout
 * @property {import("./lexicon.js").Lexicon} lexicon
 * @property {import("./languages.js").Languages} languages those of the lexicon, one or several
 * @property {import("./tree.js").WordTree} trie the lexicon on the letters of the layout
 * @property {import("./types.js").Constants} constants
 * @property {import("./networks.js").Networks} networks
 * @property {import("./context.js").Context | import("./languages.js").Contexts | null} context which words follow which; null
 *   where that is not known
 * @property {import("./literal.js").Fluency | null} fluency which letters follow which; null where no literals are read
 * @property {import("./bundle.js").Bundle | null} [bundle] what it was read from
 */

export class Keyboard {
  /**
   * The keyboard of a bundle.
   * @param {import("./types.js").Read} read
   * @param {any} ort the module onnxruntime-web
   */
  static async load(read, ort) {
    return new Keyboard(await readBundle(read, ort));
  }

  /** @param {Parts} parts */
  constructor({ layout, lexicon, languages, trie, constants, networks, context, fluency, bundle = null }) {
    this.layout = layout;
    this.lexicon = lexicon;
    this.languages = languages;
    this.trie = trie;
    this.constants = constants;
    this.networks = networks;
    this.context = context;
    this.bundle = bundle;
    const groups = trie.letters.map((letter) => layout.keys.flatMap((key, i) => (key.letter === letter ? [i] : [])));
    const beam = (/** @type {number} */ width) => new Beam(trie.letters.length, { ...constants.search, width }, constants.scoring);
    const { width } = constants.search;
    const beams = { listed: beam(width), own: beam(Math.min(width, constants.vocabulary.width)) };
    this.typing = new Typing(trie.letters, constants.typed_as);
    /** The words that can be written. */
    this.dictionary = new Dictionary({ lexicon, trie, typing: this.typing, vocabulary: new Vocabulary(constants.vocabulary), fluency, beams, constants });
    this.ruler = new Ruler(layout, groups, constants.geometry);
    this.reader = new Reader(networks, layout.keys, groups, bundle?.manifest.models.decoder?.columns ?? null);
    this.keyWidth = 2 * median(layout.keys.map((key) => key.rx));
    this.letterKeys = groups.map((group) => group.map((i) => toKeyWidths(layout.keys[i].cx, layout.keys[i].cy, this.keyWidth, layout.aspect)));
    this.wordNumbers = new Int32Array(lexicon.length).fill(NOT_LOOKED_UP);
    /** What is known of how the person swipes; null where the ranking does not follow anyone. @type {import("./habits.js").Habits | null} */
    this.habits = null;
  }

  /** The person's own words, in memory; `Vocabulary.from` reads them from JSON. */
  get vocabulary() {
    return this.dictionary.vocabulary;
  }

  set vocabulary(vocabulary) {
    this.dictionary.vocabulary = vocabulary;
  }

  /** The constants of the ranking as the person's habits have changed them. */
  get scoring() {
    const packaged = this.constants.scoring;
    return this.habits ? this.habits.apply(packaged) : packaged;
  }

  /**
   * Adds a word to the person's own, or counts it up; it can be written at once.
   * @param {string} word
   */
  learn(word) {
    if (!this.typing.word(word).length) throw new VocabularyError(`"${word}" has no letter of the layout`);
    this.vocabulary.learn(word);
  }

  /**
   * Removes a word from the person's own; words of the lexicon stay.
   * @param {string} word
   * @returns {boolean} whether it was there
   */
  forget(word) {
    return this.vocabulary.forget(word);
  }

  /**
   * Learns from a word that a person accepted or corrected: the ranking adapts, and a word of his own counts up.
   * @param {Points} points the swipe
   * @param {string} word
   */
  async accept(points, word) {
    await this.observe(points, word);
    if (this.vocabulary.uses.has(word.normalize("NFC")) || this.lexicon.find(word) < 0) this.learn(word);
  }

  /**
   * Records in the habits which word a swipe meant, if that was found. Literals do not count: few are meant.
   * @param {Points} points
   * @param {string} word
   */
  async observe(points, word) {
    if (!this.habits) return;
    checkPoints(points);
    const { scoring } = this.constants; // factors multiply what was recorded, so that is what the packaged constants give
    const path = resample(points, this.constants.path);
    const spellings = this.find(points, await this.read(path), NO_AFFIXES, scoring);
    const matches = await this.match(path, spellings, scoring);
    const rows = [...spellings.keys()].filter((row) => spellings[row].source !== LITERAL);
    const typed = String(this.typing.word(word));
    const meant = rows.findIndex((row) => String(spellings[row].labels) === typed);
    if (meant < 0) return;
    const terms = contributions(rows.map((row) => spellings[row]), matches && rows.map((row) => matches[row]), (matches && scoring.matched) || scoring);
    this.habits.record(terms, meant);
  }

  /**
   * Whether a word can be written, in any case: the lexicon has it, or it is one of the person's own.
   * @param {string} word
   * @returns {boolean}
   */
  has(word) {
    return this.dictionary.has(word);
  }

  /**
   * The k words a swipe most likely means, best first; `none` of the list says how likely none of them is right.
   * @param {Points} points [[x, y, t_ms], ...] over the letter area
   * @param {number} [k]
   * @param {string | null} [context] the text before the swipe; "" is the beginning of a text, null is not known
   * @param {Tapped} [tapped] letters that the words must begin and end with
   * @returns {Promise<Candidates>}
   */
  async decode(points, k = 5, context = null, tapped = {}) {
    return this.choose(await this.finalists(points, tapped), k, context);
  }

  /**
   * The words that a swipe may mean, scored as if it stood alone.
   * @param {Points} points
   * @param {Tapped} [tapped]
   * @returns {Promise<Finalists>}
   */
  async finalists(points, { prefix = "", suffix = "" } = {}) {
    checkPoints(points);
    const affixes = this.dictionary.affixes(prefix, suffix);
    const path = resample(points, this.constants.path);
    const spellings = this.find(points, await this.read(path), affixes);
    return this.score(spellings, await this.match(path, spellings));
  }

  /**
   * What the networks say of a swipe.
   * @param {Float32Array} path resampled
   * @param {boolean} [all] whether all that the encoder says is wanted
   * @returns {Promise<Reading>}
   */
  read(path, all = false) {
    return this.reader.read(path, all);
  }

  /**
   * The spellings that a swipe may mean, measured: words, and literals where no word is plain to see.
   * @param {Points} points
   * @param {Reading} read
   * @param {import("./types.js").Affixes} [affixes]
   * @param {Scoring} [scoring]
   * @returns {Spelling[]}
   */
  find(points, read, affixes = NO_AFFIXES, scoring = this.scoring) {
    const words = this.measure(points, this.weigh(this.dictionary.search(read.letters, affixes), read));
    if (!this.constants.scoring.fluency_weight || this.#isPlain(words, scoring)) return words;
    return [...words, ...this.#measureMore(this.weigh(this.dictionary.read(read.letters, affixes), read))];
  }

  /**
   * Mixes the decoder's log-probabilities into the encoder's.
   * @param {Spelling[]} spellings
   * @param {Reading} read
   * @returns {Spelling[]}
   */
  weigh(spellings, { corrected }) {
    return corrected ? reweigh(spellings, corrected, this.constants.scoring.decoder_share) : spellings;
  }

  /**
   * Whether a word is so clearly read that literals need not be looked for.
   * @param {Spelling[]} spellings
   * @param {Scoring} scoring
   */
  #isPlain(spellings, scoring) {
    if (!spellings.length) return false;
    const { literals } = this.constants;
    const scores = spellings.map((spelling) => scoreSpelling(spelling, spelling.frequency, scoring));
    const best = scores.indexOf(Math.max(...scores));
    return spellings[best].logProb >= literals.plain && shares(scores, scoring)[best] >= scoring.doubt;
  }

  /**
   * Says of spellings how well a swipe follows their keys, where the scoring has a use for it.
   * @param {Points} points
   * @param {Spelling[]} spellings
   */
  measure(points, spellings) {
    if (isGeometric(this.constants.scoring)) this.ruler.measure(points);
    return this.#measureMore(spellings);
  }

  /**
   * The same of the swipe that was measured last.
   * @param {Spelling[]} spellings
   */
  #measureMore(spellings) {
    if (!isGeometric(this.constants.scoring)) return spellings;
    for (const spelling of spellings) {
      const { labels } = spelling;
      [spelling.location, spelling.shape] = this.ruler.distances(labels.filter((label, i) => label !== labels[i - 1])); // doubled ones once
    }
    return spellings;
  }

  /**
   * Asks the matcher, if the swipe is in doubt, how well it fits each spelling.
   * @param {Float32Array} path
   * @param {Spelling[]} spellings
   * @param {Scoring} [scoring]
   * @returns {Promise<number[] | null>} null where it is not asked
   */
  async match(path, spellings, scoring = this.scoring) {
    const { matcher } = this.constants;
    if (!this.networks.has("matcher") || !scoring.matched) return null;
    const compared = contenders(spellings, scoring, matcher);
    if (!compared) return null;
    const count = path.length / 2;
    const places = Array.from({ length: count }, (_, i) => toKeyWidths(path[i], path[count + i], this.keyWidth, this.layout.aspect));
    const words = compared.map((i) => spellings[i].labels);
    const { keys, mask, longest } = spellKeys(words, letterKeys(this.letterKeys, places));
    const { scores } = await this.networks.run("matcher", {
      path: this.networks.tensor("float32", Float32Array.from(places.flat()), [1, count, 2]),
      keys: this.networks.tensor("float32", keys, [1, words.length, longest, 2]),
      mask: this.networks.tensor("bool", mask, [1, words.length, longest]),
    });
    return spread(scores.data, compared, spellings.length);
  }

  /**
   * Scores every word of the spellings as if the swipe stood alone.
   * @param {Spelling[]} spellings
   * @param {number[] | null} matches
   * @returns {Finalists}
   */
  score(spellings, matches) {
    return score(spellings, this.dictionary.forms(spellings), matches, this.scoring);
  }

  /**
   * The best k of some finalists after a text, null where it is not known.
   * @param {Finalists} finalists
   * @param {number} k
   * @param {string | null} [context]
   * @returns {Candidates}
   */
  choose(finalists, k, context = null) {
    const { constants } = finalists;
    const posterior = this.languages.posterior(context);
    const gains = this.gains(finalists, context);
    const scores = this.#inLanguage(finalists, posterior).map((alone, i) => alone + constants.context_weight * gains[i]);
    return this.#candidates(finalists, { scores, gains, likely: shares(scores, constants) }, k, posterior);
  }

  /**
   * The best sequence of words over the finalists of swipes that follow each other after a text.
   * @param {Finalists[]} swipes one for each word
   * @param {number} [k] candidates of each at the most
   * @param {string | null} [context] the text before the first, "" for the beginning of a text, null where it is not known
   * @returns {import("./sentence.js").Sentence}
   */
  join(swipes, k = 5, context = "") {
    if (!this.constants.sentence) throw new BundleError("a bundle has no constants for sentences; a kit has them");
    const posterior = this.languages.posterior(context);
    const alone = swipes.map((one) => this.#inLanguage(one, posterior));
    const slots = swipes.map((one, i) => {
      const { temperature, context_weight: weight } = one.constants;
      return { numbers: this.numbers(one), logs: alone[i].map((score) => score / temperature), weight: weight / temperature };
    });
    const found = bestSequence(slots, context === null ? null : this.context, context ?? "", this.constants.sentence);
    const candidates = swipes.map((one, i) => {
      const sure = shares(alone[i], one.constants).reduce((sum, share) => sum + share, 0); // the chance that a word found is meant
      const likely = found.shares[i].map((share) => share * sure);
      return this.#candidates(one, { scores: alone[i], gains: likely.map(() => 0), likely }, k, posterior);
    });
    const words = found.places.map((place, i) => (place < 0 ? "" : this.dictionary.write(swipes[i].words[place])));
    return { words, probability: found.probability, candidates };
  }

  /**
   * Says what the networks saw in a swipe, and why a word was not first; what it returns is the JSON of /api/explain.
   * @param {Points} points
   * @param {import("./explain.js").Question} [question]
   * @returns {Promise<import("./explain.js").Explanation>}
   */
  explain(points, question) {
    return explain(this, points, question);
  }

  /**
   * What finalists gain by the text before them, in nats; 0 where it has no say.
   * @param {Finalists} finalists
   * @param {string | null} context
   * @returns {number[]}
   */
  gains({ words }, context) {
    if (context === null || !this.context) return words.map(() => 0);
    return this.context.after(context).gains(this.numbers({ words }));
  }

  /**
   * The numbers of finalists in the context, -1 where it knows none; that of a word of the lexicon is looked up once.
   * @param {{words: import("./dictionary.js").Form[]}} finalists whatever their scores
   * @returns {number[]}
   */
  numbers({ words }) {
    const { context, wordNumbers, lexicon } = this;
    if (!context) return words.map(() => -1);
    return words.map(({ word, text }) => {
      if (text !== null) return context.number(text);
      if (wordNumbers[word] === NOT_LOOKED_UP) wordNumbers[word] = context.number(lexicon.word(word));
      return wordNumbers[word];
    });
  }

  /**
   * The scores of finalists in a text whose languages have this posterior.
   * @param {Finalists} finalists
   * @param {number[]} posterior
   * @returns {number[]}
   */
  #inLanguage({ words, constants }, posterior) {
    if (posterior.length === 1) return words.map(({ score: alone }) => alone);
    const shifts = this.languages.shift(words.map(({ word }) => word), posterior, constants.frequency_floor);
    return words.map(({ score: alone }, i) => alone + constants.frequency_weight * shifts[i]);
  }

  /**
   * The k finalists of the highest share, with their terms.
   * @param {Finalists} finalists
   * @param {{scores: number[], gains: number[], likely: number[]}} ranking of each
   * @param {number} k
   * @param {number[]} posterior
   * @returns {Candidates}
   */
  #candidates({ words }, { scores, gains, likely }, k, posterior) {
    const best = rank(words, scores, likely).slice(0, k);
    const languages = this.languages.languageOf(best.map((i) => words[i].word), posterior);
    const found = best.map((i, place) => {
      const { spelling: { tree, node, logProb, fluency, location, shape, source }, frequency, match } = words[i];
      const terms = { logProb, frequency: Math.round(frequency), fluency, location, shape, match, gain: gains[i] };
      const told = { word: this.dictionary.write(words[i]), letters: tree.spell(node), literal: source === LITERAL, language: languages[place] };
      return { ...told, ...terms, score: scores[i], probability: likely[i] };
    });
    const none = Math.max(0, 1 - found.reduce((sum, one) => sum + one.probability, 0));
    return Object.assign(found, { none });
  }
}
