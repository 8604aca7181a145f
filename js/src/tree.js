// Strings of letters that share their beginnings, as flat arrays: every node is a string, node 0 the empty one.

/** Letters by node: what the networks' spellings are measured and compared by. */
export class Tree {
  /**
   * @param {string[]} letters the alphabet; a label is an index into it
   * @param {Uint8Array} labels the letter on the edge into each node
   * @param {Uint8Array} depths letters from the root
   * @param {Uint32Array} parents the node above each
   */
  constructor(letters, labels, depths, parents) {
    this.letters = letters;
    this.labels = labels;
    this.depths = depths;
    this.parents = parents;
  }

  /**
   * The letters of a node as a string.
   * @param {number} node
   */
  spell(node) {
    return this.spellLabels(node).map((label) => this.letters[label]).join("");
  }

  /**
   * The letters on the way to a node, as labels.
   * @param {number} node
   */
  spellLabels(node) {
    const labels = [];
    for (let at = node; at > 0; at = this.parents[at]) labels.push(this.labels[at]);
    return labels.reverse();
  }

  /**
   * Whether the letters of a node end in some labels.
   * @param {number} node
   * @param {number[]} suffix
   */
  endsWith(node, suffix) {
    let at = node;
    for (let i = suffix.length - 1; i >= 0; i -= 1) {
      if (at === 0 || this.labels[at] !== suffix[i]) return false;
      at = this.parents[at];
    }
    return true;
  }
}

/** A tree whose nodes are numbered breadth first, and the words that end at them. */
export class WordTree extends Tree {
  /**
   * @param {string[]} letters
   * @param {object} arrays
   * @param {Uint32Array} arrays.children the children of node i are children[i] up to children[i + 1]
   * @param {Uint8Array} arrays.labels
   * @param {Uint32Array} arrays.endings the words that end at node i are places endings[i] up to endings[i + 1] of words
   * @param {Uint32Array} arrays.words the index of the word at each place in the list that the tree is of
   * @param {Uint8Array} arrays.frequencies the byte of the word at each place
   */
  constructor(letters, { children, labels, endings, words, frequencies }) {
    const [depths, parents] = ancestry(children, labels.length);
    super(letters, labels, depths, parents);
    this.children = children;
    this.endings = endings;
    this.words = words;
    this.frequencies = frequencies;
    this.best = new Uint8Array(labels.length); // the highest frequency byte of the words at or below each node
    for (let node = labels.length - 1; node >= 0; node -= 1) {
      for (let place = endings[node]; place < endings[node + 1]; place += 1) {
        this.best[node] = Math.max(this.best[node], frequencies[place]);
      }
      this.best[parents[node]] = Math.max(this.best[parents[node]], this.best[node]);
    }
  }

  /**
   * The node that labels lead to, or -1.
   * @param {number[]} labels
   */
  find(labels) {
    let node = 0;
    for (const label of labels) {
      let child = this.children[node];
      const end = this.children[node + 1];
      while (child < end && this.labels[child] !== label) child += 1;
      if (child === end) return -1;
      node = child;
    }
    return node;
  }

  /**
   * Whether a word has these letters.
   * @param {number[]} labels
   */
  holds(labels) {
    const node = this.find(labels);
    return node >= 0 && this.endings[node + 1] > this.endings[node];
  }

  /**
   * The words that end at a node, the most frequent first.
   * @param {number} node
   */
  wordsAt(node) {
    return Array.from(this.words.subarray(this.endings[node], this.endings[node + 1]));
  }

  /**
   * The words that have these letters.
   * @param {number[]} labels
   */
  wordsOf(labels) {
    const node = this.find(labels);
    return node >= 0 ? this.wordsAt(node) : [];
  }

  /**
   * The words that begin with a prefix and end with a suffix, which may overlap; where there are none, the root alone.
   * @param {import("./types.js").Affixes} affixes
   * @returns {WordTree}
   */
  restricted({ prefix, suffix }) {
    if (!prefix.length && !suffix.length) return this;
    const ends = this.#ends(prefix).filter((node) => this.endsWith(node, suffix));
    const keep = new Uint8Array(this.labels.length);
    keep[0] = 1;
    for (const end of ends) for (let at = end; !keep[at]; at = this.parents[at]) keep[at] = 1;
    return this.#compressed(keep, ends);
  }

  /**
   * The nodes at and below a prefix at which words end, ascending: at every depth they are neighbours.
   * @param {number[]} prefix
   */
  #ends(prefix) {
    const top = this.find(prefix);
    const ends = [];
    let [low, high] = top < 0 ? [0, 0] : [top, top + 1];
    while (low < high) {
      for (let node = low; node < high; node += 1) if (this.endings[node + 1] > this.endings[node]) ends.push(node);
      [low, high] = [this.children[low], this.children[high]];
    }
    return ends;
  }

  /**
   * A tree of some of the nodes only. They keep their order, so that children stay neighbours.
   * @param {Uint8Array} keep for each node whether it stays
   * @param {number[]} ends the nodes whose words stay, ascending
   */
  #compressed(keep, ends) {
    const count = keep.reduce((sum, one) => sum + one, 0);
    const [children, labels, endings] = [new Uint32Array(count + 1), new Uint8Array(count), new Uint32Array(count + 1)];
    const places = ends.flatMap((end) => range(this.endings[end], this.endings[end + 1]));
    let [number, next, ended] = [0, 1, 0]; // of the node, of its first child, of the end that comes next
    for (let node = 0; node < keep.length; node += 1) {
      if (!keep[node]) continue;
      labels[number] = this.labels[node];
      children[number] = next;
      for (let child = this.children[node]; child < this.children[node + 1]; child += 1) next += keep[child];
      endings[number + 1] = endings[number];
      if (ends[ended] === node) {
        endings[number + 1] += this.endings[node + 1] - this.endings[node];
        ended += 1;
      }
      number += 1;
    }
    children[count] = next;
    const words = Uint32Array.from(places, (place) => this.words[place]);
    const frequencies = Uint8Array.from(places, (place) => this.frequencies[place]);
    return new WordTree(this.letters, { children, labels, endings, words, frequencies });
  }
}

/**
 * Depths and parents of all nodes.
 * @param {Uint32Array} children
 * @param {number} nodes
 * @returns {[Uint8Array, Uint32Array]}
 */
function ancestry(children, nodes) {
  const [depths, parents] = [new Uint8Array(nodes), new Uint32Array(nodes)];
  for (let node = 0; node < nodes; node += 1) {
    for (let child = children[node]; child < children[node + 1]; child += 1) {
      parents[child] = node;
      depths[child] = depths[node] + 1;
    }
  }
  return [depths, parents];
}

/**
 * @param {number} start
 * @param {number} end
 */
function range(start, end) {
  return Array.from({ length: end - start }, (_, i) => start + i);
}
