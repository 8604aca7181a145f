"""The cost of layouts on one grid, of all their neighbours at once, and no word read twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from glissando.design.judge import Judge
from glissando.design.memo import Memo, hash_table
from glissando.design.minimum_jerk import leg_times
from glissando.design.spelling import Spelling
from glissando.design.task import DesignTask
from glissando.synth import DWELL_MS, TAP_MS

HASH_SEED = 7
MAX_TRIPLES = 1 << 25  # (layout, swap, word) looked up at once


class Costs(NamedTuple):
    """What layouts cost, both per word of running text and less being better.

    Attributes:
        clarity: float64, nats: what the encoder pays to read the word meant off its swipe.
        travel: float64, seconds: what a finger needs by Cao and Zhai's line term.
    """

    clarity: Tensor
    travel: Tensor

    def total(self, dial: float | Tensor) -> Tensor:
        """Clarity plus ``dial`` nats for each second."""
        return self.clarity + dial * self.travel


class LayoutCosts:
    """Costs of layouts of a task, given as slots [R, K]: where each symbol is.

    Args:
        task: grid and letters.
        words: what is written, spelled with the task's letters.
        judge: reads words.
        memo_bits: 2^bits words are remembered.
    """

    def __init__(self, task: DesignTask, words: Spelling, judge: Judge, memo_bits: int) -> None:
        self.judge, self.device = judge, judge.device
        self.letters = torch.tensor(words.letters, device=self.device).long()  # [W, L]
        self.lengths = torch.tensor(words.lengths, device=self.device)  # [W]
        self.weights = torch.tensor(words.weights, device=self.device)  # [W]
        self.memo = Memo(memo_bits, self.device)
        self.looked_up = 0
        self._index_swaps(torch.tensor(task.swaps, device=self.device), len(task.letters))
        self._hash_words(len(task.letters), len(task.keys))
        self._measure_ways(task)

    def _index_swaps(self, swaps: Tensor, count: int) -> None:
        """List which words each swap touches. Shapes: P swaps, M pairs of a swap and a word."""
        self.swaps = swaps  # [P, 2]
        symbols = max(int(swaps.max()) + 1, count)
        has = torch.zeros(len(self.letters), symbols, dtype=torch.bool, device=self.device)
        has.scatter_(1, self.letters, True)  # [W, symbols]; what pads a word is its last letter, so it has that, too
        touched = has[:, swaps[:, 0]] | has[:, swaps[:, 1]]  # [W, P]
        self.pair_swap, self.pair_word = touched.T.nonzero(as_tuple=True)  # [M]
        self.empty = count  # what symbols beyond the letters count as

    def _hash_words(self, count: int, slots: int) -> None:
        """Share of every letter at every slot in a word's key, zero for letters it lacks. Shape: [W, A + 1, K]."""
        self.place_keys = hash_table(self.letters.shape[1], slots, HASH_SEED, self.device)  # [L, K]
        inside = torch.arange(self.letters.shape[1], device=self.device) < self.lengths[:, None]
        self.shares = torch.zeros(len(self.letters), count + 1, slots, dtype=torch.int64, device=self.device)
        for place in range(self.letters.shape[1]):
            row = self.letters[:, place, None, None].expand(-1, 1, slots)
            self.shares.scatter_add_(1, row, self.place_keys[place] * inside[:, place, None, None])

    def _measure_ways(self, task: DesignTask) -> None:
        """How often each letter follows each, and how long each way takes. Shapes: [A, A], [K, K] seconds."""
        count = len(task.letters)
        first, second = self.letters[:, :-1], self.letters[:, 1:]
        inside = torch.arange(1, self.letters.shape[1], device=self.device) < self.lengths[:, None]
        mass = (self.weights[:, None] * inside).flatten()
        self.follows = torch.zeros(count * count, dtype=torch.float64, device=self.device)
        self.follows.scatter_add_(0, (first * count + second).flatten(), mass)
        self.follows = self.follows.view(count, count)
        self.taps = TAP_MS / 1000 * float(self.weights[self.lengths == 1].sum())
        centres, size = torch.tensor(task.centres).double(), torch.tensor(task.size_mm).double()
        ends = torch.stack(torch.broadcast_tensors(centres[:, None], centres[None]), 2)  # [K, K, 2, 2]
        self.ways = (leg_times(ends, size)[..., 0] / 1000).to(self.device)
        assert float(self.ways.diagonal().max()) == DWELL_MS / 1000

    def of(self, slots: Tensor) -> Costs:
        """Costs of layouts. Shape: [R, K] -> [R] each."""
        return Costs(self.word_costs(slots).double() @ self.weights, self.travel(slots))

    def word_costs(self, slots: Tensor) -> Tensor:
        """What every word costs on every layout. Shape: [R, K] -> [R, W]."""
        keys = self._keys(slots)
        words = torch.arange(len(self.letters), device=self.device).expand_as(keys)
        rows = torch.arange(len(slots), device=self.device)[:, None].expand_as(keys)

        def spelled(chosen: Tensor) -> tuple[Tensor, Tensor]:
            word = words.flatten()[chosen]
            return slots[rows.flatten()[chosen, None], self.letters[word]], word

        return self._recall(keys.flatten(), spelled).view_as(keys)

    def neighbours(self, slots: Tensor, chosen: Tensor) -> Costs:
        """Costs of layouts one swap away. Shapes: [R, K], [p] numbers of swaps -> [R, p] each."""
        place = torch.full((len(self.swaps),), -1, device=self.device)
        place[chosen] = torch.arange(len(chosen), device=self.device)
        pairs = (place[self.pair_swap] >= 0).nonzero()[:, 0]  # [M] of the chosen swaps
        group = max(1, MAX_TRIPLES // max(1, len(pairs)))
        clarity = torch.cat([self._neighbours(part, pairs, place, len(chosen)) for part in slots.split(group)])
        travel = torch.stack([self.travel(self.swapped(row, chosen)) for row in slots])
        return Costs(clarity, travel)

    def swapped(self, slots: Tensor, chosen: Tensor) -> Tensor:
        """Layouts one swap away from one. Shapes: [K], [p] -> [p, K]."""
        a, b = self.swaps[chosen].unbind(1)
        moved = slots.repeat(len(chosen), 1)
        row = torch.arange(len(chosen), device=self.device)
        moved[row, a], moved[row, b] = slots[b], slots[a]
        return moved

    def travel(self, slots: Tensor) -> Tensor:
        """Seconds per word. Shape: [R, K] -> [R]."""
        on = slots[:, : len(self.follows)]  # letters only
        ways = self.ways[on[:, :, None], on[:, None]]  # [R, A, A]
        return (ways * self.follows).sum((1, 2)) + self.taps

    def _neighbours(self, slots: Tensor, pairs: Tensor, place: Tensor, count: int) -> Tensor:
        """Clarity one swap away: words without the two letters cost what they cost.

        Args:
            slots: [R, K].
            pairs: [M] pairs of a swap and a word it touches.
            place: [P] each swap's place among the chosen.
            count: p, how many are chosen.

        Returns:
            [R, p] float64.
        """
        base = self.word_costs(slots)  # [R, W]
        swap, word = self.pair_swap[pairs], self.pair_word[pairs]  # [M]
        symbols = self.swaps[swap]  # [M, 2]
        at_a, at_b = slots[:, symbols[:, 0]], slots[:, symbols[:, 1]]  # [R, M]
        a, b = symbols.clamp(max=self.empty).unbind(1)
        change = self.shares[word, a, at_b] - self.shares[word, a, at_a]
        change += self.shares[word, b, at_a] - self.shares[word, b, at_b]
        keys = self._keys(slots)[:, word] + change  # [R, M]

        def spelled(chosen: Tensor) -> tuple[Tensor, Tensor]:
            row, pair = chosen // len(pairs), chosen % len(pairs)
            before = slots[row[:, None], self.letters[word[pair]]]  # [n, L]
            one, other = at_a[row, pair, None], at_b[row, pair, None]
            return torch.where(before == one, other, torch.where(before == other, one, before)), word[pair]

        costs = self._recall(keys.flatten(), spelled).view_as(keys)
        # A matrix product, not a sum by index: on a GPU that would add in any order, and two runs differ.
        table = base[:, None].repeat(1, count, 1)  # [R, p, W]
        table[:, place[swap], word] = costs
        return table.double() @ self.weights

    def _keys(self, slots: Tensor) -> Tensor:
        """Key of every word on every layout. Shape: [R, K] -> [R, W] int64."""
        keys = torch.zeros(len(slots), len(self.letters), dtype=torch.int64, device=self.device)
        for place in range(self.letters.shape[1]):
            keys += self.place_keys[place][slots[:, self.letters[:, place]]] * (place < self.lengths)
        return keys

    def _recall(self, keys: Tensor, spelled: Callable[[Tensor], tuple[Tensor, Tensor]]) -> Tensor:
        """Costs by key; those not known are read, each once. Shape: [n] -> [n].

        Args:
            keys: of words on layouts.
            spelled: from places in ``keys`` [m] to the slots visited [m, L] and the words [m].
        """
        self.looked_up += len(keys)
        values, known = self.memo.get(keys)
        missing = (~known).nonzero()[:, 0]
        if len(missing):
            fresh, which = keys[missing].unique(return_inverse=True)
            row = torch.arange(len(missing), device=self.device)
            first = torch.full((len(fresh),), len(missing), device=self.device).scatter_reduce(0, which, row, "amin")
            visited, word = spelled(missing[first])
            read = self.judge.costs(visited, self.lengths[word])
            self.memo.put(fresh, read)
            values[missing] = read[which]
        return values
