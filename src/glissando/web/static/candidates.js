// The row of candidates over the keys: tap one to write it instead.

import { make, percent } from "./page.js";
import { pressable } from "./press.js";

export class CandidateRow {
  // on: {choose(word), learn(word)}
  constructor(root, on) {
    this.root = root;
    pressable(root, { press: ({ target }) => {
      const chip = target.closest?.("button");
      if (chip?.dataset.learn) on.learn(chip.dataset.learn);
      else if (chip?.dataset.word) on.choose(chip.dataset.word);
    } }, { scrolls: true });
  }

  preview(word) { if (word) this.root.replaceChildren(make("span", { class: "preview", text: word })); }

  // candidates of the word that is written now; offer: a word that may be added to one's own, or "".
  show(candidates, written, offer = "", isOwn = () => false) {
    const chips = candidates.map((one) => chip(one, one.word === written, one.literal && !isOwn(one.word)));
    if (offer) chips.splice(1, 0, make("button", { class: "candidate add", type: "button", "data-learn": offer, text: `+ Add “${offer}” to my words` }));
    this.root.replaceChildren(...chips);
    this.root.scrollLeft = 0;
  }
}

function chip(candidate, pressed, literal) {
  const share = percent(candidate.probability);
  const bar = make("i");
  bar.style.width = `${Math.max(2, candidate.probability * 100)}%`;
  return make("button", {
    class: literal ? "candidate literal" : "candidate", type: "button", "data-word": candidate.word, "aria-pressed": String(pressed),
    title: literal ? "Read letter by letter; not in the dictionary" : null,
    "aria-label": literal ? `${candidate.word}, read letter by letter, not in the dictionary, ${share}` : null,
  }, make("span", { text: candidate.word }), make("small", { text: share }), bar);
}
