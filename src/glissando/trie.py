"""A lexicon on a layout's letters, as flat arrays that a beam can walk.

Nodes are numbered breadth first, so the children of a node are neighbours and one array of offsets
finds them. Words that are typed alike ("its", "it's") end at the same node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from glissando.errors import LexiconError
from glissando.files import cache_directory, load_arrays, save_arrays
from glissando.lexicon import Lexicon, type_character

MAX_DEPTH = 255  # depths are stored as bytes
NO_LETTER = 255  # in an array of labels: there is none
MAX_NODES = 1 << 23  # of edges; a million words have half as many
ARRAYS = {  # the arrays of a trie; compiled code relies on their types
    "children": np.int32, "labels": np.uint8, "depths": np.uint8, "parents": np.int32, "endings": np.int32,
    "words": np.int32, "best": np.uint8,
}  # fmt: skip


class Affixes(NamedTuple):
    """Letters that were tapped, as labels: a word begins with the prefix and ends with the suffix."""

    prefix: tuple[int, ...] = ()
    suffix: tuple[int, ...] = ()


NO_AFFIXES = Affixes()


@dataclass(frozen=True, eq=False)
class Tree:
    """Strings of letters that share their beginnings: every node is one. M nodes; node 0 is the root, the empty string.

    Attributes:
        letters: the alphabet; labels are indices into it.
        labels: [M] uint8, the letter on the edge into each node.
        depths: [M] uint8, letters from the root.
        parents: [M] int32, the node above each; the root is its own.
    """

    letters: tuple[str, ...]
    labels: np.ndarray
    depths: np.ndarray
    parents: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def spell(self, nodes: np.ndarray, longest: int) -> np.ndarray:
        """The letters on the way to some nodes, NO_LETTER beyond their end.

        Args:
            nodes: [...] nodes, -1 where there is none; none is deeper than ``longest``.
            longest: L, letters of a word at the most.

        Returns:
            [..., L] uint8 labels.
        """
        spelled = np.full((nodes.size, longest), NO_LETTER, dtype=np.uint8)
        rows, at = np.arange(nodes.size), nodes.ravel()
        while len(rows := rows[at > 0]):
            at = at[at > 0]
            spelled[rows, self.depths[at] - 1] = self.labels[at]
            at = self.parents[at]
        return spelled.reshape(*nodes.shape, longest)

    @classmethod
    def of_word(cls, labels: Sequence[int], letters: tuple[str, ...]) -> Tree:
        """The tree of one word: node i is its first i letters."""
        size = len(labels) + 1
        edges, depths = np.array([0, *labels], dtype=np.uint8), np.arange(size, dtype=np.uint8)
        return cls(letters, edges, depths, np.maximum(np.arange(size, dtype=np.int32) - 1, 0))

    def text(self, node: int) -> str:
        """The letters of a node as a string."""
        letters = []
        while node > 0:
            letters.append(self.letters[self.labels[node]])
            node = int(self.parents[node])
        return "".join(reversed(letters))


@dataclass(frozen=True, eq=False)
class Trie(Tree):
    """The prefixes of a lexicon, as a tree. M nodes, W words.

    Attributes:
        children: [M + 1] int32; the children of node i are children[i] up to children[i + 1].
        endings: [M + 1] int32; the words ending at node i are words[endings[i]:endings[i + 1]].
        words: [W] int32 indices into the lexicon, by node, most frequent first.
        best: [M] uint8, the highest frequency byte of all words at or below each node.
    """

    children: np.ndarray
    endings: np.ndarray
    words: np.ndarray
    best: np.ndarray

    def __post_init__(self) -> None:
        for name, kind in ARRAYS.items():
            array = getattr(self, name)
            if array.dtype != kind or not array.flags.c_contiguous:
                raise LexiconError(f"a trie's {name} must be contiguous {kind.__name__}, got {array.dtype}")

    @cached_property
    def edges(self) -> np.ndarray:
        """All that a search asks of a node packed in one number, so that it reads memory once. Shape: [M + 1] uint32.

        From the top: 23 bits the first child, one bit whether a word ends there, 8 bits the label.
        """
        if len(self) >= MAX_NODES:
            raise LexiconError(f"a trie holds up to {MAX_NODES:,} prefixes, this one has {len(self):,}")
        edges = self.children.astype(np.uint32) << np.uint32(9)
        edges[:-1] |= (np.diff(self.endings) > 0).astype(np.uint32) << np.uint32(8)
        edges[:-1] |= self.labels
        return edges

    def words_at(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All words that end at some nodes; -1 is no node.

        Args:
            nodes: [W].

        Returns:
            owners: [F] for each word the index of its node among the W.
            words: [F] its index in the lexicon.
        """
        starts, ends = self.endings[nodes], self.endings[nodes + 1]
        counts = np.where(nodes >= 0, ends - starts, 0)
        owners = np.repeat(np.arange(len(nodes)), counts)
        first = np.cumsum(counts) - counts  # [W] where each node's words begin among the F
        return owners, self.words[np.arange(len(owners)) + (starts - first)[owners]]

    def locate(self, nodes: np.ndarray, tree: Tree) -> np.ndarray:
        """The nodes here that have the same letters as nodes of another tree over these letters.

        Shape: [n] nodes of ``tree`` -> [n] int32, -1 where no prefix has these letters.
        """
        return _locate(nodes, (tree.parents, tree.labels, tree.depths), self.children, self.labels)

    def find(self, typed: str) -> int:
        """The node that a string of letters leads to, or -1."""
        node = 0
        for letter in typed:
            low, high = int(self.children[node]), int(self.children[node + 1])
            match = [c for c in range(low, high) if self.letters[self.labels[c]] == letter]
            if not match:
                return -1
            node = match[0]
        return node

    def labels_of(self, typed: str) -> tuple[int, ...]:
        """The labels of what a person tapped, typed as words are: "É" on the key of e, an apostrophe on none.

        A letter or digit that has no key is an error.
        """
        letters = frozenset(self.letters)
        labels: list[int] = []
        for character in typed:
            found = type_character(character, letters)
            if not found and character.isalnum():
                known = "".join(self.letters)
                raise LexiconError(f"{character!r} of {typed[:40]!r} is not on the layout, whose letters are {known}")
            labels += map(self.letters.index, found)
        return tuple(labels)

    def holds(self, nodes: np.ndarray, tree: Tree) -> np.ndarray:
        """Whether a word here has the letters of each of some nodes of another tree. Shape: [n] -> [n] bool."""
        found = self.locate(nodes, tree)
        return (found >= 0) & (self.endings[found + 1] > self.endings[found])

    def restricted(self, affixes: Affixes, frequencies: np.ndarray) -> Trie:
        """A trie of the words whose letters begin with a prefix and end with a suffix, in the same lexicon.

        The two may overlap, as in ``str.startswith`` and ``str.endswith``. Where no word is left, the root is alone.
        With 330,000 nodes a beginning of two letters takes 1 ms, an end alone 4 to 10 ms.

        Args:
            affixes: labels, as from ``labels_of``; either may be empty.
            frequencies: [W] uint8 bytes of the lexicon's words, for what the search looks ahead to.
        """
        if affixes == NO_AFFIXES:
            return self
        ends = _nodes_with_words(self, _levels_below(self, affixes.prefix))
        at = ends
        for label in reversed(affixes.suffix):
            fits = (self.labels[at] == label) & (at > 0)
            ends, at = ends[fits], self.parents[at[fits]]
        keep = np.zeros(len(self), dtype=bool)
        keep[0] = True
        above = ends
        while len(above):  # a letter of every word at once
            above = above[~keep[above]]
            keep[above] = True
            above = self.parents[above]
        return _compressed(self, keep, ends, frequencies)


def build_trie(lexicon: Lexicon, letters: tuple[str, ...]) -> Trie:
    """Build the trie of a lexicon typed on these letters, or read it from the cache.

    Args:
        lexicon: the words; those with no typed letter are left out.
        letters: the distinct letters of the layout, whose order gives the labels.
    """
    _check_distinct(letters)
    key = hashlib.sha256(("".join(letters) + "\n" + lexicon.digest).encode()).hexdigest()
    path = cache_directory() / f"trie-3-{key[:32]}.npz"
    arrays = load_arrays(path)
    if arrays is None:
        arrays = _build_arrays(lexicon, letters)
        save_arrays(path, arrays)
    return Trie(letters=letters, **arrays)


def best_below(depths: np.ndarray, parents: np.ndarray, endings: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """The highest byte of all words at or below every node.

    Args:
        depths, parents, endings: of a trie of M nodes, numbered breadth first.
        frequencies: [W] bytes of its words, in its order.

    Returns:
        [M] uint8; it never rises on the way down.
    """
    best = np.zeros(len(depths), np.uint8)
    np.maximum.at(best, np.repeat(np.arange(len(depths)), np.diff(endings)), frequencies)
    levels = np.searchsorted(depths, np.arange(1, int(depths[-1]) + 2))  # where each depth begins
    for low, high in reversed(list(pairwise(levels.tolist()))):
        np.maximum.at(best, parents[low:high], best[low:high])
    return best


def _levels_below(trie: Trie, prefix: Sequence[int]) -> list[tuple[int, int]]:
    """The nodes at and below a prefix: at every depth they are neighbours. First and last + 1 of each depth."""
    node = 0
    for label in prefix:
        low, high = int(trie.children[node]), int(trie.children[node + 1])
        match = np.flatnonzero(trie.labels[low:high] == label)
        if not len(match):
            return []
        node = low + int(match[0])
    levels = [(node, node + 1)]
    while (below := (int(trie.children[levels[-1][0]]), int(trie.children[levels[-1][1]])))[0] < below[1]:
        levels.append(below)
    return levels


def _nodes_with_words(trie: Trie, levels: Sequence[tuple[int, int]]) -> np.ndarray:
    """The nodes of some levels at which words end, ascending. Shape: [E] int64."""
    found = [low + np.flatnonzero(np.diff(trie.endings[low : high + 1])) for low, high in levels]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _compressed(trie: Trie, keep: np.ndarray, ends: np.ndarray, frequencies: np.ndarray) -> Trie:
    """A trie of some of the nodes only, which keep their order, so that children stay neighbours.

    Args:
        trie: M nodes.
        keep: [M] whether a node stays: the root, ``ends`` and all nodes above them.
        ends: [E] nodes whose words stay, ascending.
        frequencies: [W] bytes of the lexicon's words.
    """
    kept = np.flatnonzero(keep)  # [N]
    number = np.zeros(len(trie) + 1, dtype=np.int32)  # of each node among those that stay, or of the next that does
    np.cumsum(keep, out=number[1:])
    children = number[trie.children[np.append(kept, len(trie))]]
    counts = np.zeros(len(kept), dtype=np.int32)
    counts[number[ends]] = trie.endings[ends + 1] - trie.endings[ends]
    endings = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    words, depths, parents = trie.words_at(ends)[1], trie.depths[kept], number[trie.parents[kept]]
    best = best_below(depths, parents, endings, frequencies[words])
    return Trie(trie.letters, trie.labels[kept], depths, parents, children, endings, words, best)


def grow_trie(letters: tuple[str, ...], labels: np.ndarray, lengths: np.ndarray, frequencies: np.ndarray) -> Trie:
    """Build the trie of any words, without a cache; words of no letter are left out.

    Args:
        letters: the distinct letters of the layout.
        labels: [letters in all] uint8 indices into ``letters``, the words end to end.
        lengths: [W] int64 letters of each word, none more than MAX_DEPTH.
        frequencies: [W] uint8 bytes of the words.

    Returns:
        A trie whose words are 0 to W - 1; that of no word at all has only a root.
    """
    _check_distinct(letters)
    return Trie(letters=letters, **_grow(labels, lengths, frequencies))


def _check_distinct(letters: tuple[str, ...]) -> None:
    """Refuse letters of which two are the same."""
    if len(set(letters)) != len(letters):
        raise LexiconError("the letters of a trie must be distinct")


def _build_arrays(lexicon: Lexicon, letters: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Build the arrays of a lexicon's trie."""
    typed = lexicon.spell(frozenset(letters))
    lengths = np.array([len(word) for word in typed], dtype=np.int64)
    if lengths.max() == 0:
        raise LexiconError(f"no word of lexicon {lexicon.name} can be typed on the letters {''.join(letters)[:40]}")
    if lengths.max() > MAX_DEPTH:
        raise LexiconError(f"lexicon {lexicon.name}: a word has more than {MAX_DEPTH} letters")
    codes = np.frombuffer("".join(typed).encode("utf-32-le"), dtype=np.uint32)
    alphabet = np.array([ord(letter) for letter in letters], dtype=np.uint32)
    order = np.argsort(alphabet)
    labels = order[np.searchsorted(alphabet[order], codes)].astype(np.uint8)  # [letters in all]
    return _grow(labels, lengths, lexicon.frequencies)


def _grow(labels: np.ndarray, lengths: np.ndarray, frequencies: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of the trie of some words; see ``grow_trie``."""
    # Most frequent first, so that words sharing a node come out in that order.
    words = np.argsort(~frequencies, kind="stable")  # bytes are sorted by counting, many times as fast
    words = words[lengths[words] > 0]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    first, sibling, label, end = _insert(labels, offsets, words)
    children, renumbered, node_of = _number_breadth_first(first, sibling, label)
    ends = node_of[end]  # [W] node of each word, in the order of `words`
    endings, words = _by_node(ends, words, len(renumbered))
    depths, parents = _ancestry(children)
    return {
        "children": children,
        "labels": renumbered,
        "depths": depths,
        "parents": parents,
        "endings": endings,
        "words": words,
        "best": best_below(depths, parents, endings, frequencies[words]),
    }


@njit(cache=True)
def _locate(nodes, tree, children, labels):  # type: ignore[no-untyped-def]
    """``Trie.locate``: walk down from the root by the letters of every node. Shape: [n] -> [n] int32."""
    parents, letters, depths = tree
    found = np.full(len(nodes), -1, np.int32)
    word = np.empty(MAX_DEPTH, np.uint8)
    for i in range(len(nodes)):
        at, length = nodes[i], np.int64(depths[nodes[i]])
        for k in range(length - 1, -1, -1):
            word[k] = letters[at]
            at = parents[at]
        here = 0
        for k in range(length):
            child = children[here]
            while child < children[here + 1] and labels[child] != word[k]:
                child += 1
            if child == children[here + 1]:
                here = -1
                break
            here = child
        found[i] = here
    return found


@njit(cache=True)
def _insert(labels, offsets, words):  # type: ignore[no-untyped-def]
    """Insert words one by one into a trie of linked children; returns its arrays and each word's node."""
    capacity = len(labels) + 1
    first = np.zeros(capacity, np.int32)
    sibling = np.zeros(capacity, np.int32)
    label = np.zeros(capacity, np.uint8)
    end = np.zeros(len(words), np.int32)
    count = 1
    for w in range(len(words)):
        node = 0
        for i in range(offsets[words[w]], offsets[words[w] + 1]):
            child = first[node]
            while child != 0 and label[child] != labels[i]:
                child = sibling[child]
            if child == 0:
                child = count
                count += 1
                label[child] = labels[i]
                sibling[child] = first[node]
                first[node] = child
            node = child
        end[w] = node
    return first[:count], sibling[:count], label[:count], end


@njit(cache=True)
def _number_breadth_first(first, sibling, label):  # type: ignore[no-untyped-def]
    """Renumber nodes breadth first: offsets of the children, labels, and each old node's new number."""
    nodes = len(first)
    queue = np.zeros(nodes, np.int32)
    children = np.zeros(nodes + 1, np.int32)
    renumbered = np.zeros(nodes, np.uint8)
    node_of = np.zeros(nodes, np.int32)
    filled = 1
    for new in range(nodes):
        old = queue[new]
        node_of[old] = new
        renumbered[new] = label[old]
        children[new] = filled
        child = first[old]
        while child != 0:
            queue[filled] = child
            filled += 1
            child = sibling[child]
    children[nodes] = filled
    return children, renumbered, node_of


@njit(cache=True)
def _by_node(ends, words, nodes):  # type: ignore[no-untyped-def]
    """Sort words by the node where each ends, keeping their order within it. Shape: [W], [W] -> [M + 1], [W] int32."""
    endings = np.zeros(nodes + 1, np.int32)
    for node in ends:
        endings[node + 1] += 1
    for node in range(nodes):
        endings[node + 1] += endings[node]
    filled = endings[:-1].copy()
    ordered = np.zeros(len(words), np.int32)
    for w in range(len(words)):
        ordered[filled[ends[w]]] = words[w]
        filled[ends[w]] += 1
    return endings, ordered


@njit(cache=True)
def _ancestry(children):  # type: ignore[no-untyped-def]
    """Depth and parent of every node. Shape: [M + 1] -> [M] uint8, [M] int32."""
    depths = np.zeros(len(children) - 1, np.uint8)
    parents = np.zeros(len(children) - 1, np.int32)
    for node in range(len(depths)):
        for child in range(children[node], children[node + 1]):
            depths[child] = depths[node] + 1
            parents[child] = node
    return depths, parents
