// How likely the spellings are under the decoder's emissions.

import { wordLogProb } from "./ctc.js";

// Weighs each spelling by both networks. logProbs: Float32Array [frames, letters + 1], blank last; share: the decoder's.
// -> spellings in the same order.
export function reweigh(spellings, logProbs, share) {
  const probs = Float64Array.from(logProbs, Math.exp);
  return spellings.map((spelling) => {
    const judged = wordLogProb(probs, spelling.labels, spelling.tree.letters.length + 1);
    return { ...spelling, logProb: (1 - share) * spelling.logProb + share * judged };
  });
}
