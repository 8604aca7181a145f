// Connectionist temporal classification of one word: its probability, its best alignment, the frames it needs.
//
// A word of n letters passes 2 n + 1 states: blank, letter, blank, ..., letter, blank. Each lasts one frame or more.
// A blank between two letters may be left out, except between doubled letters.

const IMPOSSIBLE = -1e4; // log-probability of a word without an alignment
const TINY = 1e-200; // scores below this are multiplied up, so that no product leaves the range of a float64

/**
 * @typedef {object} Alignment the most likely alignment of a word with the frames
 * @property {number[]} frames for each letter, the frame where it is most likely
 * @property {number[]} costs for each letter, minus the log-probability of the frames given to it
 * @property {number} gaps minus the log-probability of the frames given to blank
 */

/**
 * The fewest frames that can spell a word: one a letter, and a blank between doubled letters.
 * @param {number[]} labels
 * @returns {number}
 */
export function neededFrames(labels) {
  return labels.length + labels.filter((label, i) => i > 0 && label === labels[i - 1]).length;
}

/**
 * The log-probability of a word, summed over all its alignments, by CTC's forward recursion in plain probabilities.
 * @param {Float64Array} probs [frames, classes], blank last
 * @param {number[]} labels
 * @param {number} classes
 * @returns {number}
 */
export function wordLogProb(probs, labels, classes) {
  const score = new Float64Array(2 * labels.length + 1);
  score[0] = 1; // before the first frame, as if in blank
  let scale = 0; // logarithm of what the scores were divided by
  for (let frame = 0; frame < probs.length; frame += classes) {
    const blank = probs[frame + classes - 1];
    let highest = 0;
    for (let k = labels.length; k > 0; k -= 1) { // from the last state to the first, so that one array holds them all
      const here = 2 * k - 1;
      score[here + 1] = (score[here + 1] + score[here]) * blank;
      const skipped = k > 1 && labels[k - 1] !== labels[k - 2] ? score[here - 2] : 0;
      score[here] = (score[here] + score[here - 1] + skipped) * probs[frame + labels[k - 1]];
      highest = Math.max(highest, score[here], score[here + 1]);
    }
    score[0] *= blank;
    highest = Math.max(highest, score[0]);
    if (highest > 0 && highest < TINY) {
      for (let i = 0; i < score.length; i += 1) score[i] /= TINY;
      scale += Math.log(TINY);
    }
  }
  const total = score[2 * labels.length] + score[2 * labels.length - 1];
  return total > 0 ? Math.max(Math.log(total) + scale, IMPOSSIBLE) : IMPOSSIBLE;
}

/**
 * The most likely alignment of a word (Viterbi). The frames must be enough for it.
 * @param {Float32Array} logProbs [frames, classes], blank last
 * @param {number[]} labels at least one
 * @param {number} classes
 * @returns {Alignment}
 */
export function align(logProbs, labels, classes) {
  const states = Array.from({ length: 2 * labels.length + 1 }, (_, i) => (i % 2 ? labels[(i - 1) / 2] : classes - 1));
  const path = bestPath(logProbs, states, classes);
  const found = { frames: labels.map(() => -1), costs: labels.map(() => 0), gaps: 0 };
  const least = labels.map(() => Infinity);
  path.forEach((state, t) => {
    const cost = -logProbs[t * classes + states[state]];
    if (state % 2 === 0) found.gaps += cost;
    else {
      const letter = (state - 1) / 2;
      found.costs[letter] += cost;
      if (cost < least[letter]) [least[letter], found.frames[letter]] = [cost, t];
    }
  });
  return found;
}

/**
 * The state of every frame on the most likely path.
 * @param {Float32Array} logProbs [frames, classes]
 * @param {number[]} states the class of each
 * @param {number} classes
 * @returns {number[]}
 */
function bestPath(logProbs, states, classes) {
  const [frames, count] = [logProbs.length / classes, states.length];
  const steps = new Uint8Array(frames * count); // how many states back the path was one frame before
  let score = new Float64Array(count).fill(-Infinity);
  for (let s = 0; s < 2; s += 1) score[s] = logProbs[states[s]];
  for (let t = 1; t < frames; t += 1) {
    const next = new Float64Array(count);
    for (let s = 0; s < count; s += 1) {
      let [from, best] = [0, score[s]];
      if (s > 0 && score[s - 1] > best) [from, best] = [1, score[s - 1]];
      const maySkip = s > 2 && s % 2 === 1 && states[s] !== states[s - 2];
      if (maySkip && score[s - 2] > best) [from, best] = [2, score[s - 2]];
      steps[t * count + s] = from;
      next[s] = best + logProbs[t * classes + states[s]];
    }
    score = next;
  }
  const path = new Array(frames);
  path[frames - 1] = count - 1 - (score[count - 2] > score[count - 1] ? 1 : 0);
  for (let t = frames - 1; t > 0; t -= 1) path[t - 1] = path[t] - steps[t * count + path[t]];
  return path;
}
