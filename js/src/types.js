// The shapes of what the modules hand to each other, for the type checker.

/** @typedef {(name: string) => Promise<ArrayBuffer>} Read the bytes of a file */

/** @typedef {number[][]} Points of a swipe: [[x, y, t_ms], ...] over the letter area */

/**
 * @typedef {object} Key a key: centre and half size in fractions of the letter area
 * @property {string} letter
 * @property {number} cx
 * @property {number} cy
 * @property {number} rx
 * @property {number} ry
 */

/**
 * @typedef {object} Layout
 * @property {string} [name]
 * @property {string} [language] its usual one
 * @property {number} aspect height over width of the letter area
 * @property {Key[]} keys
 */

/** @typedef {{prefix: number[], suffix: number[]}} Affixes labels of letters that were tapped */

/** @typedef {{prefix?: string, suffix?: string}} Tapped letters that a word must begin and end with */

/** @typedef {{labels: Uint8Array, offsets: Uint32Array}} Spelled the labels of word i are labels[offsets[i]] up to labels[offsets[i + 1]] */

/**
 * @typedef {object} Scoring the constants of search and ranking; Python's Scoring says what each is
 * @property {number} length_exponent
 * @property {number} frequency_weight
 * @property {number} length_bonus
 * @property {number} pruning_exponent
 * @property {number} pruning_bonus
 * @property {number} frequency_floor
 * @property {number} location_weight
 * @property {number} shape_weight
 * @property {number} decoder_share
 * @property {number} temperature
 * @property {number} pruning_frequency
 * @property {number} pruning_floor
 * @property {number} context_weight
 * @property {number} matcher_weight
 * @property {number} literal_bonus
 * @property {number} fluency_weight
 * @property {number} none_bonus
 * @property {number} none_share
 * @property {number} doubt
 * @property {Scoring | null} matched those where the matcher was asked
 */

/**
 * @typedef {object} Constants of a bundle's constants.json; a kit has the last four too
 * @property {{points: number, rate_hz: number}} path
 * @property {{width: number, sure_blank: number}} search
 * @property {Scoring} scoring
 * @property {import("./geometry.js").Constants} geometry
 * @property {{finalists: number, longest: number}} matcher
 * @property {import("./context.js").Constants} context
 * @property {import("./literal.js").Constants} literals
 * @property {import("./vocabulary.js").Constants} vocabulary
 * @property {Record<string, string>} typed_as letters that are typed as others
 * @property {import("./literal.js").Counting} [fluency]
 * @property {import("./languages.js").Constants} [languages]
 * @property {import("./sentence.js").Constants} [sentence]
 * @property {import("./habits.js").Constants} [habits]
 */

/**
 * @typedef {object} Candidate a word that a swipe may mean
 * @property {string} word
 * @property {string} letters what of it is typed
 * @property {boolean} literal whether it was read letter by letter and is in no list
 * @property {string} language that it is most likely in
 * @property {number} probability how likely it is meant
 * @property {number} score what the ranking sorts by
 * @property {number} logProb of its letters
 * @property {number} frequency byte
 * @property {number} fluency
 * @property {number} location
 * @property {number} shape
 * @property {number} match
 * @property {number} gain
 */

/** @typedef {Candidate[] & {none: number}} Candidates best first; `none` is how likely none of them is meant */

export {};
