// The one place where swipes become words. Today the server decodes; a worker can take its place behind the same functions.

import { call } from "./api.js";
import { asked } from "./layouts.js";

const CONTEXT = 300; // characters of the text before that are sent; the server looks at 256, and sees that there were more

// points: [[x, y, t], ...] over the letter area. asking: {layout, language, context, prefix}; a context of undefined is not known.
// Returns {candidates: [{word, probability, literal, language}], none}: none is the probability that no candidate is right,
// null where that is not known.
export async function decode(points, asking, { k = 6, signal, timeout } = {}) {
  const answer = await call("/api/decode", { method: "POST", body: { ...request(points, asking), k }, signal, timeout });
  return { candidates: answer.candidates, none: answer.none ?? null };
}

// Makes the keyboard of a layout and a language, so that its first swipe need not wait.
export const warm = (layout, language) => decode([[0.5, 0.5, 0]], { layout, language }, { k: 1, timeout: 60000 });

// What the networks saw in a swipe, and why a word was not first; see /docs.
export const explain = (points, asking, word) => call("/api/explain", { method: "POST", body: { ...request(points, asking), k: 1, word } });

// Whether a word is in the dictionary; true also where that cannot be told.
export async function known(word, { layout, language }) {
  const swipe = keysOf(word, layout).map((key, i) => [key.cx, key.cy, 120 * i]);
  if (!swipe.length) return true;
  return (await explain(swipe, { layout, language }, word)).meant?.verdict !== "out of lexicon";
}

// The layouts and languages that there are.
export const choices = () => call("/api/layouts");

function request(points, { layout, language, context, prefix }) {
  return { points, layout: asked(layout), language, ...(context === undefined ? {} : { context: tail(context) }), ...(prefix ? { prefix } : {}) };
}

// The end of a text, cut between characters: half of one is no JSON.
const tail = (text) => [...text].slice(-CONTEXT).join("");

const keysOf = (word, layout) => [...word.toLowerCase()].map((letter) => layout.keys.find((key) => key.letter === letter)).filter(Boolean);
