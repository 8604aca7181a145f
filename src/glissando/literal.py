"""Reading a swipe letter by letter, without a lexicon: names, places and slang that no list has.

A small CTC beam over strings of letters. What keeps it from nonsense is *fluency*: how likely letters follow each other
in the language, by a character n-gram counted from the words of its lexicon. Each string kept is a node of a tree that
grows from frame to frame.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from glissando.beam import IMPOSSIBLE, SURE_BLANK, cut, log_add
from glissando.files import cache_directory, load_arrays, save_arrays
from glissando.lexicon import Lexicon
from glissando.trie import MAX_DEPTH, NO_AFFIXES, Affixes, Tree

LITERALS = 8  # strings that are offered for a swipe; 12 find hardly more
WIDTH = 16  # strings kept from frame to frame
RESTRICTED_WIDTH = 64  # the same where the string must end in letters that were tapped

# The beam keeps the strings of the highest log_prob + FLUENCY * fluency + LETTER * letters; chosen on val.
FLUENCY = 0.4
LETTER = 1.2
UNLIKELY = -9.0  # log-probability below which a letter is not tried in a frame

SURE = np.float32(math.log(SURE_BLANK))  # log-probability of blank above which a frame starts no letter

LONGEST_GRAM = 4  # letters of a gram
MAX_GRAMS = 2_000_000  # bytes of the table; a layout with more than 36 letters has grams of 3
STEP = 1 / 16  # of a stored byte, in nats
FREQUENCY = 0.02  # a word of the lexicon counts exp(FREQUENCY * byte)


@dataclass(frozen=True, eq=False)
class Fluency:
    """A character n-gram over the A letters of a layout; the beginning and the end of a word are one more sign.

    Attributes:
        letters: the alphabet.
        order: n, letters of a gram.
        costs: [(A + 1) ** n] uint8, -ln P(last letter | the letters before it) in steps of 1/16.
    """

    letters: tuple[str, ...]
    order: int
    costs: np.ndarray

    def of(self, labels: Sequence[int]) -> float:
        """The log-probability of a word."""
        edge = len(self.letters)
        signs = [edge] * (self.order - 1) + list(labels) + [edge]
        grams = (signs[at : at + self.order] for at in range(len(labels) + 1))
        return -STEP * sum(int(self.costs[np.ravel_multi_index(gram, (edge + 1,) * self.order)]) for gram in grams)


@dataclass(frozen=True, eq=False)
class Literals:
    """Strings of letters read in a swipe, the best first. N of them.

    Attributes:
        tree: what they are nodes of.
        nodes: [N] int32.
        log_probs: [N] float32 log-probabilities of their letters.
        fluency: [N] float32 log-probabilities of the same letters by the n-gram.
    """

    tree: Tree
    nodes: np.ndarray
    log_probs: np.ndarray
    fluency: np.ndarray


def build_fluency(lexicon: Lexicon, letters: tuple[str, ...]) -> Fluency:
    """Count the n-gram of a lexicon typed on these letters, or read it from the cache."""
    key = hashlib.sha256(("".join(letters) + "\n" + lexicon.digest).encode()).hexdigest()
    path = cache_directory() / f"fluency-1-{key[:32]}.npz"
    order = gram_order(len(letters))
    arrays = load_arrays(path)
    if arrays is None:
        arrays = {"costs": _count(lexicon, letters, order)}
        save_arrays(path, arrays)
    return Fluency(letters, order, arrays["costs"])


def gram_order(letters: int) -> int:
    """Letters of a gram: as many as keep the table of an alphabet small.

    >>> gram_order(26), gram_order(33), gram_order(60)
    (4, 4, 3)
    """
    return next(n for n in range(LONGEST_GRAM, 0, -1) if (letters + 1) ** n <= MAX_GRAMS or n == 1)


def read_letters(log_probs: np.ndarray, fluency: Fluency, affixes: Affixes = NO_AFFIXES) -> Literals:
    """Read one swipe letter by letter.

    Args:
        log_probs: [T, A + 1] float32 log-emissions over the letters, blank last.
        fluency: the n-gram of the language.
        affixes: letters that the strings must begin and end with.
    """
    emissions = np.ascontiguousarray(log_probs, dtype=np.float32)
    prefix = np.array(affixes.prefix, dtype=np.uint8)
    width = RESTRICTED_WIDTH if len(affixes.suffix) else WIDTH
    grown, (nodes, found, fluent) = _read(emissions, fluency.costs, fluency.order, width, prefix)
    tree = Tree(fluency.letters, *grown)
    depths = tree.depths
    order = np.argsort(-(found + FLUENCY * fluent + LETTER * depths[nodes]), kind="stable")
    order = order[depths[nodes[order]] >= max(len(affixes.prefix), 1)]
    if len(affixes.suffix):
        order = order[_ends_with(tree, nodes[order], affixes.suffix)]
    return Literals(tree, nodes[order], found[order], fluent[order])


def _ends_with(tree: Tree, nodes: np.ndarray, suffix: Sequence[int]) -> np.ndarray:
    """Whether the letters of nodes end in some labels. Shape: [n] -> [n] bool."""
    fits, at = tree.depths[nodes] >= len(suffix), nodes
    for label in suffix[::-1]:
        fits, at = fits & (tree.labels[at] == label), tree.parents[at]
    return fits


def _count(lexicon: Lexicon, letters: tuple[str, ...], order: int) -> np.ndarray:
    """The costs of all grams, by Witten and Bell's interpolation. Shape: [(A + 1) ** order] uint8."""
    typed = lexicon.spell(frozenset(letters))
    weights = np.exp(FREQUENCY * lexicon.frequencies.astype(np.float64))
    edge, base = len(letters), len(letters) + 1  # the sign around words; signs in all
    lengths = np.array([len(word) for word in typed])
    kept = np.flatnonzero((lengths > 1) & (lengths <= MAX_DEPTH))
    label = {letter: index for index, letter in enumerate(letters)}
    signs = np.fromiter((label[char] for row in kept for char in typed[row]), np.int64, lengths[kept].sum())
    # Every word between signs of its own: order - 1 before it, one after it.
    room = lengths[kept] + order
    starts = np.cumsum(room) - room
    text = np.full(room.sum(), edge, dtype=np.int64)
    inside = np.repeat(starts + order - 1 - (np.cumsum(lengths[kept]) - lengths[kept]), lengths[kept])
    text[inside + np.arange(len(signs))] = signs
    grams = np.zeros(len(text), dtype=np.int64)
    for back in range(order):
        grams[back:] += text[: len(text) - back] * base**back
    place = np.arange(len(text)) - np.repeat(starts, room)  # within the word's room
    whole = place >= order - 1
    counts = np.bincount(grams[whole], np.repeat(weights[kept], room)[whole], base**order).reshape((base,) * order)
    unit = counts.sum() / max(np.count_nonzero(counts), 1)  # what a gram that was seen counts
    shares = np.full(base, 1 / base)
    for n in range(1, order + 1):
        seen = counts.sum(axis=tuple(range(order - n)))  # of n letters
        total = seen.sum(axis=-1, keepdims=True)
        trust = total / (total + np.maximum(np.count_nonzero(seen, axis=-1, keepdims=True), 1) * unit)
        shares = trust * (seen / np.maximum(total, 1e-12)) + (1 - trust) * shares
    return np.rint(-np.log(shares) / STEP).clip(0, 255).astype(np.uint8).ravel()


class _Strings(NamedTuple):
    """The strings of the beam, and behind them those that a frame adds. [width * classes] each."""

    node: np.ndarray  # in the tree; of a new string, of the one that it extends
    label: np.ndarray  # its last letter
    history: np.ndarray  # the number of its last n - 1 signs
    in_blank: np.ndarray  # log-probability of the string ending in blank
    in_letter: np.ndarray  # and ending in its last letter
    fluency: np.ndarray
    rank: np.ndarray


class _Growth(NamedTuple):
    """The tree while it grows."""

    labels: np.ndarray
    parents: np.ndarray
    depths: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def _read(emissions, costs, order, width, prefix):  # type: ignore[no-untyped-def]
    """Run the beam. Returns labels, depths and parents of its tree; nodes, log-probabilities and fluency, [n]."""
    blank_class = emissions.shape[1] - 1
    room, capacity = width * emissions.shape[1], 1 + width * len(emissions)
    tree = _Growth(np.zeros(capacity, np.uint8), np.zeros(capacity, np.int32), np.zeros(capacity, np.uint8))
    strings = _Strings(
        np.zeros(room, np.int32), np.zeros(room, np.int32), np.zeros(room, np.int64),
        np.full(room, IMPOSSIBLE, np.float32), np.full(room, IMPOSSIBLE, np.float32),
        np.zeros(room, np.float32), np.zeros(room, np.float32),
    )  # fmt: skip
    histories = (blank_class + 1) ** (order - 1)
    strings.in_blank[0] = 0.0
    strings.label[0] = blank_class  # the empty string has no letter: its in_letter stays low
    strings.history[0] = histories - 1  # nothing but the sign around words, which is the last
    size, nodes = 1, 1
    for t in range(len(emissions)):
        frame = emissions[t]
        filled = _extend(frame, costs, prefix, size, strings, tree)
        if filled > size or size > width:
            size, nodes = _keep(width, size, filled, nodes, histories, strings, tree)
    log_probs = np.empty(size, np.float32)
    for i in range(size):
        log_probs[i] = log_add(strings.in_blank[i], strings.in_letter[i])
        strings.fluency[i] -= np.float32(STEP) * costs[strings.history[i] * (blank_class + 1) + blank_class]
    found = strings.node[:size].copy(), log_probs, strings.fluency[:size].copy()
    return (tree.labels[:nodes].copy(), tree.depths[:nodes].copy(), tree.parents[:nodes].copy()), found


@njit(cache=True, nogil=True, error_model="numpy")
def _extend(frame, costs, prefix, size, strings, tree):  # type: ignore[no-untyped-def]
    """Advance every string by one frame, in place, longer ones appended; returns how many there are."""
    node, label, history, in_blank, in_letter, fluency, rank = strings
    letters = len(frame) - 1
    sure = frame[letters] > SURE
    filled = size
    totals, ended = np.empty(size, np.float32), np.empty(size, np.float32)
    for i in range(size):
        totals[i], ended[i] = log_add(in_blank[i], in_letter[i]), in_blank[i]
        in_blank[i] = totals[i] + frame[letters]
        in_letter[i] += frame[label[i]]
    for k in range(letters):
        if sure or frame[k] < UNLIKELY:
            continue
        for i in range(size):
            depth = np.int64(tree.depths[node[i]])
            if depth == MAX_DEPTH or (depth < len(prefix) and prefix[depth] != k):
                continue
            reached = (ended[i] if k == label[i] else totals[i]) + frame[k]
            twin = -1
            for j in range(size):
                if label[j] == k and tree.parents[node[j]] == node[i] and tree.depths[node[j]] == depth + 1:
                    twin = j
            if twin >= 0:
                in_letter[twin] = log_add(in_letter[twin], reached)
                continue
            node[filled], label[filled], history[filled] = node[i], k, history[i] * (letters + 1) + k
            in_blank[filled], in_letter[filled] = IMPOSSIBLE, reached
            fluency[filled] = fluency[i] - np.float32(STEP) * costs[history[filled]]
            rank[filled] = reached + np.float32(FLUENCY) * fluency[filled] + np.float32(LETTER) * np.float32(depth + 1)
            filled += 1
    for i in range(size):
        total = log_add(in_blank[i], in_letter[i])
        rank[i] = total + np.float32(FLUENCY) * fluency[i] + np.float32(LETTER) * np.float32(tree.depths[node[i]])
    return filled


@njit(cache=True, nogil=True, error_model="numpy")
def _keep(width, size, filled, nodes, histories, strings, tree):  # type: ignore[no-untyped-def]
    """Keep the ``width`` strings of the highest rank, new ones get a node; returns how many, and all nodes."""
    node, label, history, in_blank, in_letter, fluency, rank = strings
    threshold, room = cut(rank, filled, width) if filled > width else (np.float32(IMPOSSIBLE), 0)
    kept = 0
    for i in range(filled):
        if rank[i] < threshold:
            continue
        if rank[i] == threshold:
            if room <= 0:
                continue
            room -= 1
        node[kept], label[kept] = node[i], label[i]
        history[kept] = history[i]
        if i >= size:
            tree.labels[nodes], tree.parents[nodes] = label[i], node[i]
            tree.depths[nodes] = tree.depths[node[i]] + 1
            node[kept], history[kept] = nodes, history[i] % histories
            nodes += 1
        in_blank[kept], in_letter[kept] = in_blank[i], in_letter[i]
        fluency[kept], rank[kept] = fluency[i], rank[i]
        kept += 1
    return kept, nodes
