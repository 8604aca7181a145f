// What is read in a donor's swipe, on this device. Where the device cannot read, the server's check of the swipe says it.

import { choices, decode, warm, watch } from "./decoder.js";

let [reader, asking] = ["none", null];
watch((status) => { reader = status.reader; });

/** Gets ready to read a language on a layout. What cannot be had is done without. */
export async function prepare(layout, language) {
  asking = { layout, language };
  try {
    if ((await choices()).languages.includes(language)) await warm(layout, language);
  } catch { /* the server reads */ }
}

/** {read, right} of a swipe, or null where this device does not read. word: the word that was asked for, of more than one letter. */
export async function readHere(points, { text: word, typed }) {
  if (reader !== "device" || [...typed].length < 2) return null; // a letter is tapped: there is nothing to read
  try {
    const { candidates } = await decode(points, asking, { k: 1 });
    const read = candidates[0]?.word ?? null;
    return { read, right: read !== null && letters(read) === letters(word) };
  } catch {
    return null;
  }
}

// A word apart from case, accents and marks, as the server compares.
const letters = (word) => word.normalize("NFD").toLowerCase().replace(/[^\p{L}]/gu, "");
