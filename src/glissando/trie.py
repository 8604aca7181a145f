"""A lexicon on a layout's letters, as flat arrays that a beam can walk.

Nodes are numbered breadth first, so the children of a node are neighbours and one array of offsets
finds them. Words that are typed alike ("its", "it's") end at the same node.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numba import njit

from glissando.errors import LexiconError
from glissando.files import cache_directory, load_arrays, save_arrays
from glissando.lexicon import Lexicon

MAX_DEPTH = 255  # depths are stored as bytes
NO_LETTER = 255  # in an array of labels: there is none
MAX_NODES = 1 << 23  # of edges; a million words have half as many
ARRAYS = {  # the arrays of a trie; compiled code relies on their types
    "children": np.int32, "labels": np.uint8, "depths": np.uint8, "parents": np.int32, "endings": np.int32,
    "words": np.int32, "best": np.uint8,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Trie:
    """The prefixes of a lexicon. M nodes, W words; node 0 is the root.

    Attributes:
        letters: the alphabet; labels are indices into it.
        children: [M + 1] int32; the children of node i are children[i] up to children[i + 1].
        labels: [M] uint8, the letter on the edge into each node.
        depths: [M] uint8, letters from the root.
        parents: [M] int32, the node above each; the root is its own.
        endings: [M + 1] int32; the words ending at node i are words[endings[i]:endings[i + 1]].
        words: [W] int32 indices into the lexicon, by node, most frequent first.
        best: [M] uint8, the highest frequency byte of all words at or below each node.
    """

    letters: tuple[str, ...]
    children: np.ndarray
    labels: np.ndarray
    depths: np.ndarray
    parents: np.ndarray
    endings: np.ndarray
    words: np.ndarray
    best: np.ndarray

    def __post_init__(self) -> None:
        for name, kind in ARRAYS.items():
            array = getattr(self, name)
            if array.dtype != kind or not array.flags.c_contiguous:
                raise LexiconError(f"a trie's {name} must be contiguous {kind.__name__}, got {array.dtype}")

    def __len__(self) -> int:
        return len(self.labels)

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
