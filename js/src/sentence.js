// The best sequence of words over the finalists of several swipes: what comes after has a say too.
//
// A beam over sequences: every finalist of the next swipe may follow every sequence kept so far, and the likeliest are
// kept. At the end they share the probability, and a word's probability is that of all sequences with it.

import { softmax } from "./scoring.js";

/**
 * @typedef {object} Slot the finalists for one place of a sentence
 * @property {number[]} numbers in the context, -1 where that does not know the word
 * @property {number[]} logs log-probabilities without context, up to a constant
 * @property {number} weight of the context's gains
 */

/**
 * @typedef {object} Constants the kit's "sentence"
 * @property {number} words finalists of a swipe that may stand in a sequence, the best without context
 * @property {number} sequences kept from word to word
 * @property {number} margin nats below the best at which a sequence is not kept
 */

/**
 * @typedef {object} Sentence what several swipes say together
 * @property {string[]} words the best sequence; "" for a swipe that no word fits
 * @property {number} probability its share among all sequences
 * @property {any[]} candidates for each swipe the words it may mean, likeliest first, as `Keyboard.choose` gives them; their
 *   probabilities take all swipes into account, their scores only their own
 */

/** @typedef {import("./context.js").Context | import("./languages.js").Contexts} Predictor */
/** @typedef {{log: number, places: number[], state: any}} Sequence its words are places among the finalists */

/**
 * The likeliest sequence of one finalist a slot.
 * @param {Slot[]} slots
 * @param {Predictor | null} context which words follow which; without it every swipe stands alone
 * @param {string} text what stands before
 * @param {Constants} constants
 * @returns {{places: number[], shares: number[][], probability: number}} for each slot the place of its word among the
 *   finalists, -1 where it has none; for each slot the probability of every finalist; the probability of the sequence
 */
export function bestSequence(slots, context, text, constants) {
  if (!context) {
    const shares = slots.map(({ logs }) => softmax(logs, 1));
    const places = shares.map((share) => share.indexOf(Math.max(...share)));
    const probability = shares.reduce((product, share) => product * (share.length ? Math.max(...share) : 1), 1);
    return { places, shares, probability };
  }
  /** @type {Sequence[]} */
  let kept = [{ log: 0, places: [], state: context.state(text) }];
  for (const slot of slots) kept = extend(kept, slot, context, constants);
  const mass = softmax(kept.map(({ log }) => log), 1);
  const shares = slots.map(({ logs }) => logs.map(() => 0));
  kept.forEach(({ places }, i) => places.forEach((place, at) => { if (place >= 0) shares[at][place] += mass[i]; }));
  return { places: kept[0].places, shares, probability: mass[0] };
}

/**
 * The likeliest sequences with one word more, best first.
 * @param {Sequence[]} kept
 * @param {Slot} slot
 * @param {Predictor} context
 * @param {Constants} constants
 * @returns {Sequence[]}
 */
function extend(kept, { numbers, logs, weight }, context, constants) {
  if (!logs.length) return kept.map(({ log, places, state }) => ({ log, places: [...places, -1], state: context.advance(state, -1) }));
  const words = order(logs).slice(0, constants.words);
  const asked = words.map((word) => numbers[word]);
  const gained = new Map(); // by state: what each word adds
  const longer = kept.flatMap((sequence) => {
    const key = JSON.stringify(sequence.state);
    if (!gained.has(key)) {
      const outlook = context.follow(sequence.state);
      // A word never seen has other chances in other contexts, so that gains count from the same zero.
      const [gains, unseen] = [outlook.gains(asked), outlook.unseen];
      gained.set(key, words.map((word, i) => logs[word] + weight * (gains[i] + unseen)));
    }
    return words.map((word, i) => ({ sequence, word, total: sequence.log + gained.get(key)[i] }));
  });
  const best = order(longer.map(({ total }) => total)).slice(0, constants.sequences).map((i) => longer[i]);
  return best.filter(({ total }) => total >= best[0].total - constants.margin).map(({ sequence, word, total }) => ({
    log: total, places: [...sequence.places, word], state: context.advance(sequence.state, numbers[word]),
  }));
}

/**
 * The places of values from the highest to the lowest, equal ones in their order.
 * @param {number[]} values
 * @returns {number[]}
 */
function order(values) {
  return [...values.keys()].sort((a, b) => values[b] - values[a]);
}
