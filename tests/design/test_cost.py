import itertools

import numpy as np
import pytest
import torch
from design.fakes import ALPHABET, FakeJudge

from glissando.design.cost import LayoutCosts
from glissando.design.task import make_task, parse_grid
from glissando.design.words import SearchWords
from glissando.layout import load_layout
from glissando.synth import DWELL_MS, TAP_MS, leg_durations, word_points

WORDS = {"the": 5.0, "a": 3.0, "of": 2.0, "all": 1.5, "stream": 1.0, "steam": 1.0, "committee": 0.5, "quiz": 0.1}


def costs(grid="4-6-6-6-4", alphabet=ALPHABET, words=WORDS, bits=16):
    task = make_task(parse_grid(grid), alphabet)
    return task, LayoutCosts(task, SearchWords.from_weights(words, alphabet), FakeJudge(), bits)


def places(task, count, seed=0):
    rng = np.random.default_rng(seed)
    return torch.tensor(np.stack([rng.permutation(task.size) for _ in range(count)]))


def plainly(task, slots, words):
    """The cost of a layout, word by word."""
    total = 0.0
    for word, weight in words.items():
        keys = torch.tensor([[slots[task.letters.index(letter)] for letter in word]])
        total += weight * float(FakeJudge().costs(keys, torch.tensor([len(word)])))
    return total / sum(words.values())


def test_all_layouts_of_four_letters():
    words = {"ab": 1.0, "cad": 2.0, "d": 0.5, "abba": 1.0}
    task, layouts = costs("2-2", "abcd", words)
    every = list(itertools.permutations(range(4)))
    for one in layouts.arrangements(every):
        assert one.clarity == pytest.approx(plainly(task, one.slots, words))


@pytest.mark.parametrize("grid", ["4-6-6-6-4", "6-8-8-8"])
def test_neighbours_cost_what_they_cost_alone(grid):
    """With as many keys as letters, and with keys to spare; all swaps, and some of them."""
    task, layouts = costs(grid)
    _, fresh = costs(grid)
    where, every, some = places(task, 2), torch.arange(len(task.swaps)), torch.tensor([300, 7, 0, 111])
    beside, part = layouts.neighbours(where, every), layouts.neighbours(where, some)
    for row, clarity, travel in zip(where, *beside, strict=True):
        alone = fresh.of(fresh.swapped(row, every))
        torch.testing.assert_close(clarity, alone.clarity)
        torch.testing.assert_close(travel, alone.travel)
    torch.testing.assert_close(part.clarity, beside.clarity[:, some])
    torch.testing.assert_close(part.travel, beside.travel[:, some])


def test_no_word_is_read_twice_at_the_same_keys_and_only_words_with_a_swapped_letter_are_read_again():
    task, layouts = costs(bits=20)
    where, every = places(task, 1), torch.arange(len(task.swaps))
    layouts.of(where)
    before = layouts.judge.swipes
    swap = next(i for i, (a, b) in enumerate(task.swaps.tolist()) if {task.letters[a], task.letters[b]} == {"q", "z"})
    layouts.neighbours(where, every[[swap]])
    assert layouts.judge.swipes - before == 1  # quiz
    for _ in range(2):
        layouts.neighbours(where, every)
    assert len(layouts.judge.seen) == len(set(layouts.judge.seen))


def test_a_memo_too_small_changes_nothing_but_the_work():
    (task, roomy), (_, tiny) = costs(bits=20), costs(bits=8)
    where, every = places(task, 2), torch.arange(len(task.swaps))
    for _ in range(2):
        torch.testing.assert_close(tiny.neighbours(where, every).clarity, roomy.neighbours(where, every).clarity)


def test_travel_is_the_time_of_exact_swipes():
    task, layouts = costs()
    kasroz = load_layout("kasroz")
    expected = 0.0
    for word, weight in WORDS.items():
        points = word_points(word, kasroz)
        legs = leg_durations(points, kasroz.aspect)
        expected += weight * (np.where(legs > 0, legs, DWELL_MS).sum() if len(legs) else TAP_MS)
    travel = layouts.of(torch.tensor([task.slots(kasroz)])).travel
    assert float(travel) == pytest.approx(expected / sum(WORDS.values()) / 1000, rel=1e-6)
