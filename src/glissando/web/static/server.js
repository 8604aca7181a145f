// The server reads swipes: what the page asks where it cannot read them by itself.

import { call } from "./api.js";
import { asked } from "./layouts.js";

const CONTEXT = 300; // characters of the text before that are sent; the server looks at 256, and sees that there were more

/** See decoder.js; earlier words are not read again. */
export async function decode(points, asking, { k = 6, signal, timeout } = {}) {
  const answer = await call("api/decode", { method: "POST", body: { ...request(points, asking), k }, signal, timeout });
  return { candidates: answer.candidates, none: answer.none ?? null };
}

/** Lets the server make the keyboard of a layout and a language. */
export const warm = (layout, language) => decode([[0.5, 0.5, 0]], { layout, language }, { k: 1, timeout: 60000 });

/** See /docs. */
export const explain = (points, asking, word) => call("api/explain", { method: "POST", body: { ...request(points, asking), k: 1, word } });

/** Whether a word is in the dictionary of a language, or of one of several. */
export async function known(word, { language }) {
  return (await call(`api/known?${new URLSearchParams({ word, language })}`)).known;
}

function request(points, { layout, language, context, prefix }) {
  return { points, layout: asked(layout), language, ...(context === undefined ? {} : { context: tail(context) }), ...(prefix ? { prefix } : {}) };
}

// The end of a text, cut between characters: half of one is no JSON.
const tail = (text) => [...text].slice(-CONTEXT).join("");
