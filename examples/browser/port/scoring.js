// The rank of the finalists: evidence, length, frequency and geometry.

// hypotheses: [{node, logProb}]; far(node) -> [location, shape]. -> the best k words with their terms.
export function rank(hypotheses, trie, scoring, far, k) {
  const words = [];
  for (const { node, logProb } of hypotheses) {
    const length = trie.depths[node];
    const [location, shape] = far(node);
    for (let index = trie.endings[node]; index < trie.endings[node + 1]; index += 1) {
      const frequency = trie.frequencies[index];
      const score = logProb / Math.max(length, 1) ** scoring.length_exponent
        + scoring.frequency_weight * Math.max(frequency, scoring.frequency_floor)
        + scoring.length_bonus * length
        - scoring.location_weight * location - scoring.shape_weight * shape;
      words.push({ index, node, logProb, frequency, location, shape, score });
    }
  }
  shares(words, scoring.temperature);
  // Array.sort is stable, so equals stay in the beam's order.
  words.sort((a, b) => b.score - a.score || b.frequency - a.frequency);
  return words.slice(0, k).map(({ index, node, ...terms }) => ({ word: trie.word(index), letters: trie.spell(node), ...terms }));
}

// Probability: the softmax of the scores over all words that were ranked.
function shares(words, temperature) {
  const highest = words.reduce((most, word) => Math.max(most, word.score), -Infinity);
  let sum = 0;
  for (const word of words) {
    word.probability = Math.exp((word.score - highest) / temperature);
    sum += word.probability;
  }
  for (const word of words) word.probability /= sum;
}
