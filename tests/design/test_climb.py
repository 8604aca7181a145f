import itertools

import numpy as np
import pytest

from glissando.design.climb import Climber, Party, _cycles, swapped
from glissando.design.config import SearchConfig
from glissando.design.task import make_task, parse_grid, parse_pins
from glissando.errors import DesignError
from glissando.layout import load_layout

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def party(climbers=3, rank=0, task=None, **settings):
    task = task or make_task(parse_grid("4-6-6-6-4"), ALPHABET)
    return Party(task, SearchConfig(climbers=climbers, **settings), rank)


def near_qwerty(limit, pins=""):
    qwerty = load_layout("qwerty")
    return make_task(qwerty, ALPHABET, start=qwerty, pins=parse_pins(pins, qwerty, qwerty), max_swaps=limit)


def swaps_between(start, slots):
    return len(slots) - int(_cycles(tuple(start), list(slots)).max()) - 1


def test_swaps_between_layouts_by_breadth_first_search():
    start = (2, 0, 3, 1)
    distance, edge = {start: 0}, [start]
    while edge:
        here = edge.pop(0)
        for a, b in itertools.combinations(range(4), 2):
            there = tuple(swapped(list(here), a, b))
            if there not in distance:
                distance[there] = distance[here] + 1
                edge.append(there)
    assert len(distance) == 24
    assert all(swaps_between(start, slots) == steps for slots, steps in distance.items())


def test_climbers_start_anywhere_and_every_process_elsewhere():
    starts = [tuple(climber.slots) for rank in (0, 1) for climber in party(rank=rank).climbers]
    assert len(set(starts)) == 6
    assert all(sorted(slots) == list(range(26)) for slots in starts)
    assert starts == [tuple(climber.slots) for rank in (0, 1) for climber in party(rank=rank).climbers]
    assert starts != [tuple(climber.slots) for rank in (0, 1) for climber in party(rank=rank, seed=1).climbers]


def test_pinned_letters_stay_wherever_climbers_go():
    task = near_qwerty(None, "aeiou")
    some = party(task=task)
    for climber in some.climbers:
        for _ in range(5):
            some.move(climber, 1.0, climber.slots, 1.0, len(task.swaps))
            assert all(climber.slots[symbol] == task.start[symbol] for symbol in task.pinned)


def test_nobody_goes_further_than_the_limit():
    task = near_qwerty(2)
    some = party(task=task, combos=6)
    rng = np.random.default_rng(0)
    for _ in range(12):
        gains = np.where(some.allowed(), rng.random((3, len(task.swaps))), -np.inf)
        for climber, options in zip(some.climbers, some.candidates(gains), strict=True):
            assert all(swaps_between(task.start, slots) <= 2 for slots in options)
            some.move(climber, 1.0, options[-1], 0.0, len(task.swaps))


def test_at_the_limit_only_ways_back_are_open():
    task = near_qwerty(1)
    some = party(task=task, climbers=1)
    some.climbers[0].slots = swapped(list(task.start), 3, 7)
    assert task.swaps[some.allowed()[0]].tolist() == [[3, 7]]


def test_combinations_are_the_best_swaps_that_share_no_letter():
    some = party(climbers=1, combos=3)
    gains = np.full((1, 325), -1.0)
    pairs = {tuple(pair): index for index, pair in enumerate(some.task.swaps.tolist())}
    for gain, pair in ((5.0, (0, 1)), (4.0, (1, 2)), (3.0, (2, 3)), (2.0, (4, 5)), (1.0, (6, 7))):
        gains[0, pairs[pair]] = gain
    here = some.climbers[0].slots
    one = swapped(here, 0, 1)
    two = swapped(one, 2, 3)
    assert some.candidates(gains) == [[one, two, swapped(two, 4, 5)]]


def test_without_a_gain_the_best_swap_is_still_an_option():
    some = party(climbers=1)
    gains = np.full((1, 325), -1.0)
    gains[0, 17] = -0.5
    assert some.candidates(gains) == [[swapped(some.climbers[0].slots, *some.task.swaps[17].tolist())]]
    assert some.candidates(np.full((1, 325), -np.inf)) == [[some.climbers[0].slots]]


def test_a_climber_steps_looks_on_and_leaves_a_summit_it_remembers():
    some = party(climbers=1, kick=(2, 2))
    climber = some.climbers[0]
    better = swapped(climber.slots, 0, 1)
    assert not some.move(climber, 3.0, better, 2.0, 100)
    assert climber.slots == better
    assert not some.move(climber, 2.0, swapped(better, 2, 3), 2.5, 200)  # 125 swaps are still to be seen
    assert climber.slots == better
    assert some.move(climber, 2.0, swapped(better, 2, 3), 2.5, 125)
    assert (climber.home, climber.home_cost, climber.looked) == (better, 2.0, 0)
    assert 0 < swaps_between(better, climber.slots) <= 2


def test_after_summits_no_better_it_starts_anew():
    some = party(climbers=1, patience=2)
    climber = some.climbers[0]
    for _ in range(3):
        some.move(climber, 2.0, climber.slots, 2.0, 325)
    assert climber.home is None
    assert Climber.from_dict(climber.to_dict()) == climber


def test_some_climbers_have_other_dials():
    dials = party(climbers=8, spread=0.25, dial=2.0).dials()[:, 0]
    assert (dials[:6] == 2.0).all()
    assert ((dials[6:] >= 0.5) & (dials[6:] <= 8.0)).all()
    assert len(set(dials)) == 3


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("climbers=0", "climbers must be at least 1"),
        ("kick=[3,1]", "kick must be"),
        ("view=sideways", "view must be one of upright, turned"),
        ("minutes=0", "minutes must be above 0"),
        ("pace=1", "no setting pace"),
        ("climbers", "name=value"),
    ],
)
def test_settings_that_make_no_sense(setting, message):
    with pytest.raises(DesignError, match=message):
        SearchConfig().changed([setting])
