// How likely the spellings are under the decoder's emissions.

import { wordLogProb } from "./ctc.js";

/**
 * Weighs each spelling by both networks.
 * @param {import("./dictionary.js").Spelling[]} spellings
 * @param {Float32Array} logProbs the decoder's, [frames, letters + 1], blank last
 * @param {number} share the decoder's
 * @returns {import("./dictionary.js").Spelling[]} in the same order
 */
export function reweigh(spellings, logProbs, share) {
  const probs = Float64Array.from(logProbs, Math.exp);
  return spellings.map((spelling) => {
    const judged = wordLogProb(probs, spelling.labels, spelling.tree.letters.length + 1);
    return { ...spelling, logProb: (1 - share) * spelling.logProb + share * judged };
  });
}
