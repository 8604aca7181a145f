// The keys around the letters: shift, marks, space, Enter, delete, and the page of digits and signs.

import { $, make } from "./page.js";
import { ownTouches, pressable } from "./press.js";

const SIGNS = ["1234567890", "@#€$&-+()/", "*\"':;!?%=_", "[]{}<>|~°…"];
const NAMES = { "'": "Apostrophe", ",": "Comma", ".": "Full stop", "?": "Question mark", "\"": "Quotation mark", "-": "Hyphen", "…": "Ellipsis" };
const CHARACTER_PX = 11; // of a slide on the space bar move the cursor by one character
const WORD_PX = 34; // of a slide on the delete key delete one word

// on: {type(characters), shift(moment), backspace(), deleteWord(), restoreWord(), move(characters), picker()}
export function bindKeys(root, turns, on) {
  const signs = $("#signs", root);
  for (const row of SIGNS) {
    for (const sign of row) signs.append(make("button", { class: "sign", type: "button", "aria-label": NAMES[sign] ?? sign, text: sign }));
  }
  const showSigns = (shown) => {
    signs.hidden = !shown;
    root.classList.toggle("signs-shown", shown);
    $("#more", root).textContent = shown ? "abc" : "123";
    $("#more", root).setAttribute("aria-label", shown ? "Letters" : "Digits and signs");
  };
  const type = (characters) => { on.type(characters); if (/\s/u.test(characters)) showSigns(false); };
  for (const key of root.querySelectorAll(".mark, .sign")) pressable(key, { press: () => type(key.textContent) }, { turns });
  for (const box of root.querySelectorAll(".controls, #signs")) ownTouches(box);
  pressable($("#shift", root), { press: (event) => on.shift(event.timeStamp) }, { turns });
  pressable($("#more", root), { press: () => showSigns(signs.hidden) }, { turns });
  pressable($("#enter", root), { press: () => type("\n") }, { turns });
  pressable($("#pick", root), { press: () => on.picker() });
  pressable($("#space", root), { press: () => type(" "), ...sliding(CHARACTER_PX, (steps) => on.move(steps)) }, { turns });
  pressable($("#backspace", root), {
    press: () => on.backspace(), hold: () => on.backspace(), repeats: true, ...deleting(on),
  }, { turns });
}

// Turns a slide into steps: act(n) is called with the steps since the last call.
function sliding(pixels, act) {
  let done = 0;
  return {
    slide: (far) => {
      const steps = Math.trunc(far / pixels);
      if (steps !== done) act(steps - done);
      done = steps;
    },
    slid: () => { done = 0; },
  };
}

// To the left deletes words; back to the right brings them back.
function deleting(on) {
  let deleted = 0;
  return {
    slide: (far) => {
      const wanted = Math.max(0, Math.trunc(-far / WORD_PX));
      while (deleted < wanted && on.deleteWord()) deleted += 1;
      while (deleted > wanted && on.restoreWord()) deleted -= 1;
    },
    slid: () => { deleted = 0; },
  };
}
