// CTC beam search over the trie: log-sum merging of prefixes, pruned by a score of their length and of the words below.

const IMPOSSIBLE = -1e30; // log of zero, finite so that differences stay numbers
const MAX_DEPTH = 255;

// ln(1 + exp -x) at steps of 1/256 up to 16, where it is nothing to float32.
const STEPS = 256;
const LAST = 16 * STEPS;
const SOFTPLUS = Float64Array.from({ length: LAST + 2 }, (_, i) => Math.log1p(Math.exp(-i / STEPS)));

/**
 * log(exp a + exp b), from a table: as exact as float32, and several times as quick.
 * @param {number} a
 * @param {number} b
 */
export function add(a, b) {
  const high = a > b ? a : b;
  const place = (a > b ? a - b : b - a) * STEPS;
  if (place >= LAST) return high;
  const step = place | 0;
  return high + SOFTPLUS[step] + (place - step) * (SOFTPLUS[step + 1] - SOFTPLUS[step]);
}

export class Beam {
  /**
   * @param {number} letters how many the layout has
   * @param {{width: number, sure_blank: number}} search
   * @param {import("./types.js").Scoring} scoring
   */
  constructor(letters, search, scoring) {
    this.classes = letters + 1;
    this.width = search.width;
    this.sure = search.sure_blank < 1 ? Math.log(search.sure_blank) : Infinity;
    this.bonus = scoring.pruning_bonus;
    this.weights = Float32Array.from({ length: MAX_DEPTH + 2 }, (_, depth) => Math.max(depth, 1) ** -scoring.pruning_exponent);
    // What a prefix gains by the best frequency byte below it.
    this.ahead = Float32Array.from({ length: 256 }, (_, byte) => scoring.pruning_frequency * Math.max(byte, scoring.pruning_floor));
    const capacity = this.width * this.classes;
    this.node = new Int32Array(capacity);
    this.label = new Uint8Array(capacity);
    this.depth = new Int32Array(capacity);
    this.inBlank = new Float32Array(capacity);
    this.inLetter = new Float32Array(capacity);
    this.promise = new Float32Array(capacity); // the part of the pruning score that does not change with the frames
    this.rank = new Float32Array(capacity);
    this.spare = new Float32Array(capacity); // quickselect's copy of the ranks
    this.total = new Float32Array(this.width);
    this.ended = new Float32Array(this.width);
    let slots = 1;
    while (slots < 4 * this.width) slots *= 2;
    this.tableNode = new Int32Array(slots);
    this.tableSlot = new Int32Array(slots);
    this.size = 0;
  }

  /**
   * Searches one swipe.
   * @param {Float32Array} logProbs [frames, letters + 1], blank last
   * @param {import("./tree.js").WordTree} trie
   * @returns {{node: number, logProb: number}[]} in the beam's order
   */
  search(logProbs, trie) {
    const { classes } = this;
    this.node[0] = 0;
    this.label[0] = 255;
    this.depth[0] = 0;
    this.inBlank[0] = 0;
    this.inLetter[0] = IMPOSSIBLE;
    this.promise[0] = this.ahead[trie.best[0]];
    this.size = 1;
    for (let start = 0; start < logProbs.length; start += classes) {
      const frame = logProbs.subarray(start, start + classes);
      if (frame[classes - 1] > this.sure) this.#wait(frame);
      else {
        this.#extend(frame, trie);
        if (this.size > this.width) this.#prune();
      }
    }
    const found = [];
    const { endings } = trie;
    for (let i = 0; i < this.size; i += 1) {
      const node = this.node[i];
      if (endings[node + 1] > endings[node]) found.push({ node, logProb: Math.fround(add(this.inBlank[i], this.inLetter[i])) });
    }
    return found;
  }

  /**
   * A frame that is surely blank begins no letter: hypotheses wait, or continue the letter they ended in.
   * @param {Float32Array} frame
   */
  #wait(frame) {
    const blank = frame[frame.length - 1];
    for (let i = 0; i < this.size; i += 1) {
      this.inBlank[i] = add(this.inBlank[i], this.inLetter[i]) + blank;
      this.inLetter[i] = this.depth[i] > 0 ? this.inLetter[i] + frame[this.label[i]] : IMPOSSIBLE;
    }
  }

  /**
   * Advances every hypothesis by one frame, in place, and appends the new ones.
   * @param {Float32Array} frame
   * @param {import("./tree.js").WordTree} trie
   */
  #extend(frame, { children, labels, best }) {
    const { node, label, depth, inBlank, inLetter, promise, rank, total, ended, weights, ahead, bonus, tableNode, tableSlot } = this;
    const blank = frame[frame.length - 1];
    const mask = tableNode.length - 1;
    const size = this.size;
    let floor = Infinity;
    tableNode.fill(-1);
    for (let i = 0; i < size; i += 1) {
      total[i] = add(inBlank[i], inLetter[i]);
      ended[i] = inBlank[i]; // only from a blank may the same letter come again
      inBlank[i] = total[i] + blank;
      inLetter[i] = depth[i] > 0 ? inLetter[i] + frame[label[i]] : IMPOSSIBLE;
      floor = Math.min(floor, Math.max(inBlank[i], inLetter[i]) * weights[depth[i]] + promise[i]);
      let at = Math.imul(node[i], 40503) & mask;
      while (tableNode[at] >= 0) at = (at + 1) & mask;
      tableNode[at] = node[i];
      tableSlot[at] = i;
    }
    if (size < this.width) floor = -Infinity;
    let filled = size;
    for (let i = 0; i < size; i += 1) {
      const below = depth[i] + 1;
      const weight = weights[below];
      const reward = bonus * below;
      const [same, again, whole] = [label[i], ended[i], total[i]];
      const end = children[node[i] + 1];
      for (let child = children[node[i]]; child < end; child += 1) {
        const letter = labels[child];
        const reached = (letter === same ? again : whole) + frame[letter];
        const promised = reward + ahead[best[child]];
        // A full beam keeps at least its own hypotheses: what ranks below all of them cannot stay.
        if (reached * weight + promised < floor) continue;
        let at = Math.imul(child, 40503) & mask;
        while (tableNode[at] >= 0 && tableNode[at] !== child) at = (at + 1) & mask;
        if (tableNode[at] === child) {
          inLetter[tableSlot[at]] = add(inLetter[tableSlot[at]], reached);
          continue;
        }
        node[filled] = child;
        label[filled] = letter;
        depth[filled] = below;
        inBlank[filled] = IMPOSSIBLE;
        inLetter[filled] = reached;
        promise[filled] = promised;
        filled += 1;
      }
    }
    for (let i = 0; i < filled; i += 1) {
      rank[i] = Math.max(inBlank[i], inLetter[i]) * weights[depth[i]] + promise[i];
    }
    this.size = filled;
  }

  // Keeps the `width` hypotheses of the highest rank, in their order.
  #prune() {
    const { node, label, depth, inBlank, inLetter, promise, rank, size, width } = this;
    this.spare.set(rank.subarray(0, size));
    const threshold = select(this.spare, size, size - width);
    let room = width;
    for (let i = 0; i < size; i += 1) if (rank[i] > threshold) room -= 1;
    let kept = 0;
    for (let i = 0; i < size; i += 1) {
      if (rank[i] < threshold || (rank[i] === threshold && room-- <= 0)) continue;
      node[kept] = node[i];
      label[kept] = label[i];
      depth[kept] = depth[i];
      inBlank[kept] = inBlank[i];
      inLetter[kept] = inLetter[i];
      promise[kept] = promise[i];
      kept += 1;
    }
    this.size = kept;
  }
}

/**
 * The value that would stand at `index` if the first `size` values were sorted; reorders them.
 * @param {Float32Array} values
 * @param {number} size
 * @param {number} index
 */
export function select(values, size, index) {
  let low = 0;
  let high = size - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1];
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i] < pivot) i += 1;
      while (values[j] > pivot) j -= 1;
      if (i <= j) {
        [values[i], values[j]] = [values[j], values[i]];
        i += 1;
        j -= 1;
      }
    }
    if (index <= j) high = j;
    else if (index >= i) low = i;
    else break;
  }
  return values[index];
}
