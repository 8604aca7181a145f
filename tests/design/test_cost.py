import itertools

import numpy as np
import pytest
import torch
from design.fakes import FakeJudge

from glissando.design.cost import LayoutCosts
from glissando.design.spelling import Spelling
from glissando.design.task import make_task, parse_grid
from glissando.layout import load_layout
from glissando.synth import DWELL_MS, TAP_MS, leg_durations, word_points

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
WORDS = {"the": 5.0, "a": 3.0, "of": 2.0, "all": 1.5, "stream": 1.0, "steam": 1.0, "committee": 0.5, "quiz": 0.1}


def costs(grid="4-6-6-6-4", alphabet=ALPHABET, words=WORDS, bits=16):
    task = make_task(parse_grid(grid), alphabet)
    judge = FakeJudge()
    return task, judge, LayoutCosts(task, Spelling.from_weights(words, alphabet), judge, bits)


def places(task, count, seed=0):
    rng = np.random.default_rng(seed)
    return torch.tensor(np.stack([rng.permutation(len(task.keys)) for _ in range(count)]))


def plainly(task, judge, slots, words):
    """The cost of a layout, word by word."""
    total = 0.0
    for word, weight in words.items():
        keys = torch.tensor([[slots[task.letters.index(letter)] for letter in word]])
        total += weight * float(judge.costs(keys, torch.tensor([len(word)])))
    return total / sum(words.values())


def test_a_layout_costs_what_its_words_cost():
    task, _, layouts = costs()
    where = places(task, 3)
    for row, clarity in zip(where.tolist(), layouts.of(where).clarity.tolist(), strict=True):
        assert clarity == pytest.approx(plainly(task, FakeJudge(), row, WORDS))


@pytest.mark.parametrize(("grid", "alphabet"), [("4-6-6-6-4", ALPHABET), ("6-8-8-8", ALPHABET)])
def test_neighbours_cost_what_they_cost_alone(grid, alphabet):
    """With as many keys as letters, and with keys to spare."""
    task, _, layouts = costs(grid, alphabet)
    _, _, fresh = costs(grid, alphabet)
    where, every = places(task, 2), torch.arange(len(task.swaps))
    beside = layouts.neighbours(where, every)
    for row, clarity, travel in zip(where, *beside, strict=True):
        alone = fresh.of(fresh.swapped(row, every))
        torch.testing.assert_close(clarity, alone.clarity)
        torch.testing.assert_close(travel, alone.travel)


def test_some_swaps_of_all():
    task, _, layouts = costs()
    where, some = places(task, 2), torch.tensor([300, 7, 0, 111])
    whole = layouts.neighbours(where, torch.arange(len(task.swaps)))
    part = layouts.neighbours(where, some)
    torch.testing.assert_close(part.clarity, whole.clarity[:, some])
    torch.testing.assert_close(part.travel, whole.travel[:, some])


def test_no_word_is_read_twice_at_the_same_keys():
    task, judge, layouts = costs(bits=20)
    where, every = places(task, 2), torch.arange(len(task.swaps))
    layouts.neighbours(where, every)
    layouts.neighbours(where, every)
    layouts.of(where)
    assert len(judge.seen) == len(set(judge.seen))


def test_only_words_with_a_swapped_letter_are_read_again():
    task, judge, layouts = costs(bits=20)
    where = places(task, 1)
    layouts.of(where)
    before = judge.swipes
    swap = next(i for i, (a, b) in enumerate(task.swaps.tolist()) if {task.letters[a], task.letters[b]} == {"q", "z"})
    layouts.neighbours(where, torch.tensor([swap]))
    assert judge.swipes - before == 1  # quiz


def test_a_memo_too_small_changes_nothing_but_the_work():
    task, _, roomy = costs(bits=20)
    _, _, tiny = costs(bits=8)
    where, every = places(task, 2), torch.arange(len(task.swaps))
    for _ in range(2):
        torch.testing.assert_close(tiny.neighbours(where, every).clarity, roomy.neighbours(where, every).clarity)


def test_travel_is_the_time_of_exact_swipes():
    task, _, layouts = costs()
    kasroz = load_layout("kasroz")
    expected = 0.0
    for word, weight in WORDS.items():
        points = word_points(word, kasroz)
        legs = leg_durations(points, kasroz.aspect)
        expected += weight * (np.where(legs > 0, legs, DWELL_MS).sum() if len(legs) else TAP_MS)
    travel = layouts.of(torch.tensor([task.slots(kasroz)])).travel
    assert float(travel) == pytest.approx(expected / sum(WORDS.values()) / 1000, rel=1e-6)


def test_all_layouts_of_four_letters():
    """Every layout of a small keyboard reached by swaps costs what it costs alone."""
    words = {"ab": 1.0, "cad": 2.0, "d": 0.5, "abba": 1.0}
    task, judge, layouts = costs("2-2", "abcd", words)
    every = torch.tensor(list(itertools.permutations(range(4))))
    for slots, clarity in zip(every.tolist(), layouts.of(every).clarity.tolist(), strict=True):
        assert clarity == pytest.approx(plainly(task, judge, slots, words))
