import itertools

import numpy as np
from design.fakes import ALPHABET

from glissando.design.climb import Team, cycles, swapped, swaps_apart
from glissando.design.config import SearchConfig
from glissando.design.task import make_task, parse_grid
from glissando.layout import load_layout


def team(climbers=3, rank=0, task=None, **settings):
    task = task or make_task(parse_grid("4-6-6-6-4"), ALPHABET)
    return Team(task, SearchConfig(climbers=climbers, **settings), rank)


def near_qwerty(limit, pins=""):
    qwerty = load_layout("qwerty")
    return make_task(qwerty, ALPHABET, start=qwerty, pins=pins, max_swaps=limit)


def distance(start, slots):
    return swaps_apart(cycles(start, slots))


def test_swaps_between_layouts_by_breadth_first_search():
    start = (2, 0, 3, 1)
    steps, edge = {start: 0}, [start]
    while edge:
        here = edge.pop(0)
        for a, b in itertools.combinations(range(4), 2):
            there = tuple(swapped(list(here), a, b))
            if there not in steps:
                steps[there] = steps[here] + 1
                edge.append(there)
    assert len(steps) == 24
    assert all(distance(start, slots) == count for slots, count in steps.items())


def test_climbers_start_anywhere_and_every_process_elsewhere():
    def starts(**settings):
        return [tuple(climber.slots) for rank in (0, 1) for climber in team(rank=rank, **settings).climbers]

    assert len(set(starts())) == 6
    assert all(sorted(slots) == list(range(26)) for slots in starts())
    assert starts() == starts()
    assert starts() != starts(seed=1)
    dials = team(climbers=8, spread=0.25, dial=2.0).dials()  # a quarter of them climb by other dials
    assert (dials[:6] == 2.0).all()
    assert len(set(dials)) == 3


def test_no_climber_goes_further_than_the_limit():
    task = near_qwerty(2)
    some = team(task=task, combos=6)
    rng = np.random.default_rng(0)
    for _ in range(12):
        gains = np.where(some.allowed(), rng.random((3, len(task.swaps))), -np.inf)
        for climber, row in zip(some.climbers, gains, strict=True):
            options = some.candidates(climber.slots, row)
            assert all(distance(task.start, slots) <= 2 for slots in options)
            some.move(climber, 1.0, options[-1], 0.0)


def test_at_the_limit_only_swaps_back_are_allowed():
    task = near_qwerty(1)
    some = team(task=task, climbers=1)
    some.climbers[0].slots = swapped(list(task.start), 3, 7)
    assert task.swaps[some.allowed()[0]].tolist() == [[3, 7]]


def test_a_climber_steps_looks_on_and_leaves_a_summit_it_remembers():
    some = team(climbers=1, kick=(2, 2))
    climber = some.climbers[0]
    better = swapped(climber.slots, 0, 1)
    assert not some.move(climber, 3.0, better, 2.0)
    assert climber.slots == better
    climber.looked = 325  # all swaps
    assert some.move(climber, 2.0, swapped(better, 2, 3), 2.5)
    assert (climber.home, climber.home_cost, climber.looked) == (better, 2.0, 0)
    assert 0 < distance(better, climber.slots) <= 2
    for climber.looked in [325] * some.config.patience:  # summits no better: it starts from scratch
        assert some.move(climber, 2.0, climber.slots, 2.0)
    assert climber.home is None
