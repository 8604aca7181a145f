// How likely the spellings are under the decoder's emissions: exact CTC, in plain probabilities.

const IMPOSSIBLE = -1e4; // of a word without an alignment

// Weighs each spelling by both networks. logProbs: Float32Array [frames, letters + 1], blank last; share: the decoder's.
// -> spellings in the same order.
export function reweigh(spellings, logProbs, share) {
  const probs = Float64Array.from(logProbs, Math.exp);
  return spellings.map((spelling) => {
    const mass = forward(probs, spelling.labels, spelling.tree.letters.length + 1);
    const judged = mass > 0 ? Math.max(Math.log(mass), IMPOSSIBLE) : IMPOSSIBLE;
    return { ...spelling, logProb: (1 - share) * spelling.logProb + share * judged };
  });
}

// The forward recursion over blank, letter, blank, letter ... blank, in place from the last state to the first.
function forward(probs, labels, classes) {
  const score = new Float64Array(2 * labels.length + 1);
  score[0] = 1; // before the first frame, as if in blank
  for (let frame = 0; frame < probs.length; frame += classes) {
    const blank = probs[frame + classes - 1];
    for (let k = labels.length; k > 0; k -= 1) {
      const here = 2 * k - 1;
      score[here + 1] = (score[here + 1] + score[here]) * blank;
      const skipped = k > 1 && labels[k - 1] !== labels[k - 2] ? score[here - 2] : 0;
      score[here] = (score[here] + score[here - 1] + skipped) * probs[frame + labels[k - 1]];
    }
    score[0] *= blank;
  }
  return score[2 * labels.length] + score[2 * labels.length - 1];
}
