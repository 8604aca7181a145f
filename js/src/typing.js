// What of a text is typed on a layout: capitals, accents and apostrophes to the keys of the letters.

// White space as Python has it: unlike \s with the separators 1c to 1f and 85, and without the byte order mark.
export const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const BASIC = 0x10000; // code points below this are looked up in a table
const SEVERAL = -1; // in the table: no label, or more than one
const MOST_LABELS = 6; // of a byte of UTF-8: no character of three bytes decomposes into more than 18
const HAS_SPACE = new RegExp(`[${SPACE}]`, "u");

export class TypingError extends Error {}

export class Typing {
  /**
   * @param {string[]} letters of the layout
   * @param {Record<string, string>} typedAs the bundle's "typed_as": letters that are typed as others
   */
  constructor(letters, typedAs) {
    this.label = new Map(letters.map((letter, i) => [letter, i]));
    this.typedAs = typedAs;
    /** @type {Map<string, number[]>} */
    this.known = new Map(); // of characters that were looked up, their labels
  }

  /**
   * The labels of a character: of itself, else of its base letters, else none.
   * @param {string} char
   * @returns {number[]}
   */
  character(char) {
    let found = this.known.get(char);
    if (!found) this.known.set(char, found = this.#lookUp(char));
    return found;
  }

  /** @param {string} char */
  #lookUp(char) {
    const lower = char.toLowerCase();
    const label = this.label.get(char) ?? this.label.get(lower);
    if (label !== undefined) return [label];
    return [...(this.typedAs[lower] ?? lower.normalize("NFKD"))].flatMap((part) => this.label.get(part) ?? []);
  }

  /**
   * The labels of a word.
   * @param {string} word
   */
  word(word) {
    return [...word].flatMap((char) => this.character(char));
  }

  /**
   * The labels of all words of a lexicon, end to end.
   * @param {import("./lexicon.js").Lexicon} lexicon
   * @returns {import("./types.js").Spelled}
   */
  lexicon({ text, offsets: starts }) {
    const offsets = new Uint32Array(starts.length);
    const labels = new Uint8Array(MOST_LABELS * text.length);
    const table = new Int16Array(BASIC); // the label + 1; 0 where the character was not met yet
    let filled = 0;
    for (let word = 0; word + 1 < starts.length; word += 1) {
      for (let at = starts[word]; at < starts[word + 1];) {
        const code = codePoint(text, at);
        at += code < 0x80 ? 1 : code < 0x800 ? 2 : code < BASIC ? 3 : 4;
        let one = code < BASIC ? table[code] : SEVERAL;
        if (one === 0) {
          const found = this.character(String.fromCodePoint(code));
          one = found.length === 1 ? found[0] + 1 : SEVERAL;
          table[code] = one;
        }
        if (one > 0) labels[filled++] = one - 1;
        else for (const label of this.character(String.fromCodePoint(code))) labels[filled++] = label;
      }
      offsets[word + 1] = filled;
    }
    return { labels: labels.subarray(0, filled), offsets };
  }

  /**
   * The labels of letters that were tapped; one that has no key is an error.
   * @param {string} text
   */
  tapped(text) {
    return [...text].flatMap((char) => {
      const labels = this.character(char);
      if (!labels.length && /[\p{L}\p{N}]/u.test(char)) {
        throw new TypingError(`"${char}" is not on the layout, whose letters are ${[...this.label.keys()].join("")}`);
      }
      return labels;
    });
  }
}

/**
 * The character that begins at a byte of UTF-8.
 * @param {Uint8Array} text
 * @param {number} at
 */
function codePoint(text, at) {
  const first = text[at];
  if (first < 0x80) return first;
  if (first < 0xe0) return ((first & 0x1f) << 6) | (text[at + 1] & 0x3f);
  if (first < 0xf0) return ((first & 0x0f) << 12) | ((text[at + 1] & 0x3f) << 6) | (text[at + 2] & 0x3f);
  return ((first & 0x07) << 18) | ((text[at + 1] & 0x3f) << 12) | ((text[at + 2] & 0x3f) << 6) | (text[at + 3] & 0x3f);
}

/**
 * Whether a string can be a word: it has a letter, no white space, and at most so many characters.
 * @param {string} text
 * @param {number} longest
 */
export function isWord(text, longest) {
  return [...text].length <= longest && /\p{L}/u.test(text) && !HAS_SPACE.test(text) && !/\p{Cs}/u.test(text); // no halves of characters
}

/**
 * A text in the form that words are compared in without regard to case: "gross" for "Groß". Python's casefold.
 * @param {string} text
 * @returns {string}
 */
export function foldCase(text) {
  return [...text].map((char) => (char === "ı" ? char : char.toLowerCase().toUpperCase().toLowerCase())).join("");
}
