// Grows the tree of any words on the letters of a layout, in the order in which the Python side grows it.

import { LexiconError, byFrequency } from "./lexicon.js";
import { WordTree } from "./tree.js";

export const MAX_DEPTH = 255; // letters of a word

/**
 * The tree of some words; those of no letter are left out.
 * @param {string[]} letters of the layout, all different
 * @param {{labels: Uint8Array, offsets: Uint32Array}} spelled the labels of the words, end to end
 * @param {Uint8Array} frequencies of the words
 * @returns {WordTree}
 */
export function growTree(letters, { labels, offsets }, frequencies) {
  // Most frequent first, so that words sharing a node come out in that order.
  const order = byFrequency(frequencies).filter((word) => offsets[word + 1] > offsets[word]);
  const linked = insert(labels, offsets, order);
  const { children, edges, nodeOf } = numberBreadthFirst(linked);
  const endings = new Uint32Array(edges.length + 1);
  for (let i = 0; i < order.length; i += 1) endings[nodeOf[linked.ends[i]] + 1] += 1;
  for (let node = 0; node < edges.length; node += 1) endings[node + 1] += endings[node];
  const free = endings.slice(0, -1);
  const words = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i += 1) words[free[nodeOf[linked.ends[i]]]++] = order[i];
  return new WordTree(letters, { children, labels: edges, endings, words, frequencies: Uint8Array.from(words, (word) => frequencies[word]) });
}

/**
 * Inserts words one by one into a tree of linked children, the newest child first.
 * @param {Uint8Array} labels
 * @param {Uint32Array} offsets
 * @param {Uint32Array} words
 */
function insert(labels, offsets, words) {
  const [first, sibling] = [new Uint32Array(labels.length + 1), new Uint32Array(labels.length + 1)];
  const label = new Uint8Array(labels.length + 1);
  const ends = new Uint32Array(words.length);
  let count = 1;
  for (let i = 0; i < words.length; i += 1) {
    const [start, end] = [offsets[words[i]], offsets[words[i] + 1]];
    if (end - start > MAX_DEPTH) throw new LexiconError(`a word has more than ${MAX_DEPTH} letters`);
    let node = 0;
    for (let at = start; at < end; at += 1) {
      const letter = labels[at];
      let child = first[node];
      while (child !== 0 && label[child] !== letter) child = sibling[child];
      if (child === 0) {
        child = count;
        count += 1;
        label[child] = letter;
        sibling[child] = first[node];
        first[node] = child;
      }
      node = child;
    }
    ends[i] = node;
  }
  return { first, sibling, label, count, ends };
}

/**
 * Numbers the nodes anew, breadth first.
 * @param {{first: Uint32Array, sibling: Uint32Array, label: Uint8Array, count: number}} linked
 * @returns {{children: Uint32Array, edges: Uint8Array, nodeOf: Uint32Array}} the labels are those of the edges; nodeOf has
 *   the new number of every node
 */
function numberBreadthFirst({ first, sibling, label, count }) {
  const queue = new Uint32Array(count);
  const children = new Uint32Array(count + 1);
  const edges = new Uint8Array(count);
  const nodeOf = new Uint32Array(count);
  let filled = 1;
  for (let node = 0; node < count; node += 1) {
    const old = queue[node];
    nodeOf[old] = node;
    edges[node] = label[old];
    children[node] = filled;
    for (let child = first[old]; child !== 0; child = sibling[child]) queue[filled++] = child;
  }
  children[count] = filled;
  return { children, edges, nodeOf };
}
