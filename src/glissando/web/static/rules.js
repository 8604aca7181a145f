// Where spaces and capitals go. The same rules as the library's draft.py.

export const OPENING = "([{<«„“‘¿¡"; // no space after these, but before
export const JOINING = "'’-_@/#&+~"; // no space on either side
const ENDS = /[.!?…:;]+(?=[\s"'”’»)]|$)|[。！？\n\r]+/u; // of a sentence
const FIRST_PERSON = new Set(["i", "i'm", "i'll", "i'd", "i've"]); // in English

export const isAlnum = (character) => /^[\p{L}\p{N}]$/u.test(character);
export const isSpace = (character) => /^\s$/u.test(character);

// The last character of a text, whole even where it takes two code units; "" of an empty text.
export const lastOf = (text) => [...text.slice(-2)].at(-1) ?? "";

// Whether a space goes between a text and a word.
export function needsSpace(text) {
  const last = lastOf(text);
  return last !== "" && !isSpace(last) && !(OPENING + JOINING).includes(last);
}

// Whether a sentence begins after a text.
export const beginsSentence = (text) => !/[\p{L}\p{N}]/u.test(text.split(ENDS).at(-1));

// A word with a capital first letter.
export function withCapital(word, language = "") {
  const [first = "", ...rest] = word;
  return upper(first, language) + rest.join("");
}

// A text in capitals. Turkish writes İ for i; a code that the browser does not know writes as English does.
export function upper(text, language = "") {
  try { return text.toLocaleUpperCase(language.split(",")[0] || "en"); } catch { return text.toUpperCase(); }
}

// A word as it is written after a text: with a capital where a sentence begins.
export function capitalise(word, text, language) {
  const lower = word === word.toLowerCase() && word !== word.toUpperCase();
  const begins = lower && beginsSentence(text);
  if (!begins && !(language === "en" && FIRST_PERSON.has(word))) return word;
  const [first, ...rest] = word;
  return first.toUpperCase() + rest.join("");
}
