// What of a text is typed on a layout: capitals, accents and apostrophes to the keys of the letters.

// White space as Python has it: unlike \s with the separators 1c to 1f and 85, and without the byte order mark.
export const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
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
    this.known = new Map(); // of characters that were looked up, their labels
  }

  /** The labels of a character: of itself, else of its base letters, else none. */
  character(char) {
    if (!this.known.has(char)) this.known.set(char, this.#lookUp(char));
    return this.known.get(char);
  }

  #lookUp(char) {
    const lower = char.toLowerCase();
    for (const form of [char, lower]) if (this.label.has(form)) return [this.label.get(form)];
    return [...(this.typedAs[lower] ?? lower.normalize("NFKD"))].flatMap((part) => this.label.get(part) ?? []);
  }

  /** The labels of a word. */
  word(word) {
    return [...word].flatMap((char) => this.character(char));
  }

  /** The labels of letters that were tapped; one that has no key is an error. */
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

/** Whether a string can be a word: it has a letter, no white space, and at most so many characters. */
export function isWord(text, longest) {
  return [...text].length <= longest && /\p{L}/u.test(text) && !HAS_SPACE.test(text) && !/\p{Cs}/u.test(text); // no halves of characters
}

/** A text in the form that words are compared in without regard to case: "gross" for "Groß". Python's casefold. */
export function foldCase(text) {
  return [...text].map((char) => (char === "ı" ? char : char.toLowerCase().toUpperCase().toLowerCase())).join("");
}
