// The states of a text being written, and what can be done to them: see draft.js. A state is never changed, only replaced.

import { capitalise, upper, withCapital } from "./rules.js";

export const HOLE = "\uFFFC"; // stands in the text for a word that is not read yet
const SAVED = 200; // swiped words that are kept with their candidates
export const EMPTY = Object.freeze({ text: "", words: Object.freeze([]), cursor: 0, space: false });

export const withoutHoles = (text) => text.replaceAll(new RegExp(`${HOLE} ?`, "gu"), "");
export const textBefore = (state, word) => withoutHoles(state.text.slice(0, word.start - (state.text[word.start - 1] === " " ? word.lead : 0)));
export const withHolesAsWords = (text) => text.replaceAll(HOLE, "x");

// A state with the characters from start to end replaced; words that the change touches are swiped words no longer.
export function splice(state, start, end, text) {
  const shift = text.length - (end - start);
  const words = state.words.filter((one) => one.end <= start || one.start >= end)
    .map((one) => (one.start >= end && shift ? Object.freeze({ ...one, start: one.start + shift, end: one.end + shift }) : one));
  return { ...state, text: state.text.slice(0, start) + text + state.text.slice(end), words, cursor: start + text.length };
}

// A state with another text in the place of a swiped word, which stays a swiped word.
export function rewrite(state, word, text, changes) {
  const shift = text.length - (word.end - word.start);
  const words = state.words.map((one) => {
    if (one.id === word.id) return Object.freeze({ ...one, ...changes, end: one.end + shift });
    return one.start >= word.end ? Object.freeze({ ...one, start: one.start + shift, end: one.end + shift }) : one;
  });
  const cursor = state.cursor >= word.end ? state.cursor + shift : state.cursor > word.start ? word.start + text.length : state.cursor;
  return { ...state, text: state.text.slice(0, word.start) + text + state.text.slice(word.end), words, cursor };
}

// A state without a swiped word and the space before it, or after it at the beginning of the text; the cursor stays where
// it was in the rest.
export function removeWord(state, word) {
  const start = word.start - (state.text[word.start - 1] === " " ? 1 : 0);
  const end = word.end + (start === 0 && state.text[word.end] === " " ? 1 : 0);
  const next = splice(state, start, end, "");
  return { ...next, cursor: state.cursor >= end ? state.cursor - (end - start) : Math.min(state.cursor, start) };
}

// A state whose words of these numbers say something more of themselves.
export const marked = (state, ids, changes) => ({
  ...state, words: state.words.map((one) => (ids.includes(one.id) ? Object.freeze({ ...one, ...changes }) : one)),
});

// What of a state is worth keeping: its text and its last swiped words, with the points of those that are not read yet.
export function pack({ text, cursor, space, words }) {
  const kept = words.filter((one, i) => one.status !== "read" || i >= words.length - SAVED);
  return { text, cursor, space, words: kept.map(({ points, layout, ...one }) => (one.status === "read" ? one : { ...one, points, layout })) };
}

// The state that was packed; an error where it is damaged.
export function unpack({ text, cursor, space, words }) {
  const whole = words.every((one, i) => {
    const written = text.slice(one.start, one.end);
    const known = one.status === "read" ? Array.isArray(one.candidates) && written && !written.includes(HOLE) : one.points && one.layout && written === HOLE;
    return known && Number.isInteger(one.id) && one.start >= (words[i - 1]?.end ?? 0) && one.end <= text.length;
  });
  const holes = words.filter((one) => one.status !== "read").length;
  if (!whole || text.split(HOLE).length - 1 !== holes || !(cursor >= 0 && cursor <= text.length)) throw new Error("The text that was kept is damaged.");
  const fresh = words.map((one) => Object.freeze({ ...one, status: one.status === "read" ? "read" : "pending" }));
  return { text, words: fresh, cursor, space: Boolean(space) };
}

// Candidates as they are written in the place of a swiped word; "listed" is how the dictionary has them.
export function writable(candidates, word, state) {
  const left = withHolesAsWords(state.text.slice(0, word.start));
  return merged(candidates.map((one) => ({ ...one, listed: one.word, word: spelled(one, word, left) })));
}

function spelled(candidate, word, text) {
  if (word.capital === "all") return upper(candidate.word, word.language);
  if (word.capital === "first") return withCapital(candidate.word, word.language);
  if (word.capital === "none") return candidate.word;
  return capitalise(candidate.word, text, candidate.language || word.language);
}

// Candidates that are written alike, such as "will" and "Will" at the beginning of a sentence, are one.
function merged(candidates) {
  const found = new Map();
  for (const one of candidates) {
    const same = found.get(one.word);
    if (same) found.set(one.word, { ...same, probability: same.probability + one.probability, literal: same.literal && one.literal });
    else found.set(one.word, one);
  }
  return [...found.values()];
}
