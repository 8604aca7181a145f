"""The cost of layouts on one grid, and of all their neighbours at once; no word is read twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from glissando.design.archive import Arrangement
from glissando.design.judge import Judge
from glissando.design.spline import leg_times
from glissando.design.task import DesignTask
from glissando.design.words import SearchWords
from glissando.synth import TAP_MS

HASH_SEED = 7
MAX_TRIPLES = 1 << 25  # (layout, swap, word) looked up at once
EMPTY = 0  # hash of an unused place in the memo; the chance that a word has it is one in 2^64


class Costs(NamedTuple):
    """What layouts cost per word of running text; less is better.

    Attributes:
        clarity: float64, nats: the CTC cost of the word meant, on its exact swipe.
        travel: float64, seconds: the time a finger needs by Cao and Zhai's line term.
    """

    clarity: Tensor
    travel: Tensor

    def total(self, dial: float | Tensor) -> Tensor:
        """Clarity plus ``dial`` nats for each second."""
        return self.clarity + dial * self.travel


class LayoutCosts:
    """Costs of layouts of a task, given as slots [R, K]: the key of each symbol.

    Args:
        task: grid and letters.
        words: the words, spelled with the task's letters.
        judge: reads words.
        memo_bits: 2^bits costs of words are remembered.
    """

    def __init__(self, task: DesignTask, words: SearchWords, judge: Judge, memo_bits: int) -> None:
        self.judge, self.device = judge, judge.device
        self.letters = torch.tensor(words.letters, device=self.device).long()  # [W, L]
        self.lengths = torch.tensor(words.lengths, device=self.device)  # [W]
        self.weights = torch.tensor(words.weights, device=self.device)  # [W]
        self.memo = Memo(memo_bits, self.device)
        self.looked_up = 0
        self._index_swaps(torch.tensor(task.swaps, device=self.device), len(task.letters))
        self._hash_words(len(task.letters), task.size)
        self._measure_legs(task)

    def _index_swaps(self, swaps: Tensor, count: int) -> None:
        """List which words each swap touches. Shapes: P swaps, M pairs of a swap and a word."""
        self.swaps = swaps  # [P, 2]
        symbols = max(int(swaps.max()) + 1, count)
        has = torch.zeros(len(self.letters), symbols, dtype=torch.bool, device=self.device)
        has.scatter_(1, self.letters, True)  # [W, symbols]; a word is padded with its last letter, which it has anyway
        touched = has[:, swaps[:, 0]] | has[:, swaps[:, 1]]  # [W, P]
        self.pair_swap, self.pair_word = touched.T.nonzero(as_tuple=True)  # [M]
        self.empty = count  # the row of ``letter_hashes`` for symbols that are no letters

    def _hash_words(self, count: int, slots: int) -> None:
        """Prepare hashes (Zobrist's): a word's hash is the sum over its places of ``place_hashes`` at the key visited.

        ``letter_hashes`` is what a letter at a slot adds to a word's hash, zero for letters it lacks: [W, A + 1, K].
        """
        self.place_hashes = random_hashes(self.letters.shape[1], slots, HASH_SEED, self.device)  # [L, K]
        inside = torch.arange(self.letters.shape[1], device=self.device) < self.lengths[:, None]
        self.letter_hashes = torch.zeros(len(self.letters), count + 1, slots, dtype=torch.int64, device=self.device)
        for place in range(self.letters.shape[1]):
            row = self.letters[:, place, None, None].expand(-1, 1, slots)
            self.letter_hashes.scatter_add_(1, row, self.place_hashes[place] * inside[:, place, None, None])

    def _measure_legs(self, task: DesignTask) -> None:
        """Count how often each letter follows each, and time each leg. Shapes: [A, A], [K, K] seconds."""
        count = len(task.letters)
        first, second = self.letters[:, :-1], self.letters[:, 1:]
        inside = torch.arange(1, self.letters.shape[1], device=self.device) < self.lengths[:, None]
        mass = (self.weights[:, None] * inside).flatten()
        self.follows = torch.zeros(count * count, dtype=torch.float64, device=self.device)
        self.follows.scatter_add_(0, (first * count + second).flatten(), mass)
        self.follows = self.follows.view(count, count)
        self.taps = TAP_MS / 1000 * float(self.weights[self.lengths == 1].sum())
        centres, size = torch.tensor(task.grid.centres).double(), torch.tensor(task.size_mm).double()
        ends = torch.stack(torch.broadcast_tensors(centres[:, None], centres[None]), 2)  # [K, K, 2, 2]
        self.leg_seconds = (leg_times(ends, size)[..., 0] / 1000).to(self.device)

    def of(self, slots: Tensor) -> Costs:
        """Costs of layouts. Shape: [R, K] -> [R] each."""
        return Costs(self.word_costs(slots).double() @ self.weights, self.travel(slots))

    @torch.no_grad()
    def arrangements(self, layouts: Sequence[Sequence[int]]) -> list[Arrangement]:
        """Layouts with their costs."""
        clarity, travel = self.of(torch.tensor(layouts, device=self.device))
        rows = zip(clarity.tolist(), travel.tolist(), layouts, strict=True)
        return [Arrangement(nats, seconds, tuple(slots)) for nats, seconds, slots in rows]

    def word_costs(self, slots: Tensor) -> Tensor:
        """The cost of every word on every layout. Shape: [R, K] -> [R, W]."""
        hashes = self._hashes(slots)
        count = hashes.shape[1]

        def spell(places: Tensor) -> tuple[Tensor, Tensor]:
            row, word = places // count, places % count
            return slots[row[:, None], self.letters[word]], word

        return self._recall(hashes.flatten(), spell).view_as(hashes)

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
        seconds = self.leg_seconds[on[:, :, None], on[:, None]]  # [R, A, A]
        return (seconds * self.follows).sum((1, 2)) + self.taps

    def _neighbours(self, slots: Tensor, pairs: Tensor, place: Tensor, count: int) -> Tensor:
        """Clarity one swap away: the cost of a word without the two letters stays the same.

        Args:
            slots: [R, K].
            pairs: [M] pairs of a swap and a word it touches.
            place: [P] each swap's place among the chosen.
            count: p, the number of chosen swaps.

        Returns:
            [R, p] float64.
        """
        base = self.word_costs(slots)  # [R, W]
        swap, word = self.pair_swap[pairs], self.pair_word[pairs]  # [M]
        symbols = self.swaps[swap]  # [M, 2]
        at_a, at_b = slots[:, symbols[:, 0]], slots[:, symbols[:, 1]]  # [R, M]
        a, b = symbols.clamp(max=self.empty).unbind(1)
        change = self.letter_hashes[word, a, at_b] - self.letter_hashes[word, a, at_a]
        change += self.letter_hashes[word, b, at_a] - self.letter_hashes[word, b, at_b]
        hashes = self._hashes(slots)[:, word] + change  # [R, M]

        def spell(places: Tensor) -> tuple[Tensor, Tensor]:
            row, pair = places // len(pairs), places % len(pairs)
            before = slots[row[:, None], self.letters[word[pair]]]  # [n, L]
            one, other = at_a[row, pair, None], at_b[row, pair, None]
            return torch.where(before == one, other, torch.where(before == other, one, before)), word[pair]

        costs = self._recall(hashes.flatten(), spell).view_as(hashes)
        # A matrix product, not a sum by index: on a GPU that would add in any order, and two runs would differ.
        table = base[:, None].repeat(1, count, 1)  # [R, p, W]
        table[:, place[swap], word] = costs
        return table.double() @ self.weights

    def _hashes(self, slots: Tensor) -> Tensor:
        """The hash of every word on every layout. Shape: [R, K] -> [R, W] int64."""
        hashes = torch.zeros(len(slots), len(self.letters), dtype=torch.int64, device=self.device)
        for place in range(self.letters.shape[1]):
            hashes += self.place_hashes[place][slots[:, self.letters[:, place]]] * (place < self.lengths)
        return hashes

    def _recall(self, hashes: Tensor, spell: Callable[[Tensor], tuple[Tensor, Tensor]]) -> Tensor:
        """Costs by hash; unknown ones are read, each once. Shape: [n] -> [n].

        Args:
            hashes: of words on layouts.
            spell: from places in ``hashes`` [m] to the slots visited [m, L] and the words [m].
        """
        self.looked_up += len(hashes)
        values, known = self.memo.get(hashes)
        missing = (~known).nonzero()[:, 0]
        if len(missing):
            fresh, which = hashes[missing].unique(return_inverse=True)
            row = torch.arange(len(missing), device=self.device)
            first = torch.full((len(fresh),), len(missing), device=self.device).scatter_reduce(0, which, row, "amin")
            visited, word = spell(missing[first])
            read = self.judge.costs(visited, self.lengths[word])
            self.memo.put(fresh, read)
            values[missing] = read[which]
        return values


class Memo:
    """Costs by 64-bit hash, on the device: a table of a fixed size, in which a new entry replaces an old one.

    Args:
        bits: it has 2^bits places of 16 bytes.
        device: where it lives.
    """

    def __init__(self, bits: int, device: torch.device) -> None:
        self.hashes = torch.full((1 << bits,), EMPTY, dtype=torch.int64, device=device)
        self.values = torch.zeros(1 << bits, device=device)
        self.claims = torch.zeros(1 << bits, dtype=torch.int32, device=device)
        self.mask = (1 << bits) - 1

    def get(self, hashes: Tensor) -> tuple[Tensor, Tensor]:
        """Values, and whether each is known. Shape: [n] int64 -> [n] float32, [n] bool."""
        place = hashes & self.mask
        return self.values[place], self.hashes[place] == hashes

    def put(self, hashes: Tensor, values: Tensor) -> None:
        """Keep values. Shapes: [n] int64, [n] float32.

        Writes to one place race on a GPU, so of several new entries for a place only one writes both hash and value.
        """
        place = hashes & self.mask
        row = torch.arange(len(hashes), dtype=torch.int32, device=hashes.device)
        self.claims[place] = row
        won = (self.claims[place] == row).nonzero()[:, 0]
        self.hashes[place[won]] = hashes[won]
        self.values[place[won]] = values[won]


def random_hashes(rows: int, columns: int, seed: int, device: torch.device) -> Tensor:
    """Random 64-bit numbers. Shape: [rows, columns] int64."""
    generator = torch.Generator().manual_seed(seed)
    # Two draws, since torch draws at most 63 bits; products and sums wrap.
    high = torch.randint(0, 1 << 62, (rows, columns), generator=generator)
    low = torch.randint(0, 1 << 62, (rows, columns), generator=generator)
    return (high * 4 + low % 4 - (1 << 62)).to(device)
