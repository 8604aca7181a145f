import itertools
import json

import pytest
import torch
from design.fakes import FakeJudge

from glissando.design.config import SearchConfig
from glissando.design.cost import LayoutCosts
from glissando.design.search import Search, combine
from glissando.design.task import make_task, parse_grid
from glissando.design.words import SearchWords
from glissando.errors import DesignError
from glissando.train.world import World

WORDS = {"ab": 1.0, "cad": 2.0, "dab": 0.5, "abba": 1.0, "fade": 1.0, "bead": 0.7}


def search(rounds=30, swaps=15, **settings):
    task = make_task(parse_grid("3-3"), "abcdef")
    words = SearchWords.from_weights(WORDS, "abcdef")
    config = SearchConfig(rounds=rounds, climbers=2, spread=0.0, memo_bits=14, swaps=swaps, **settings)
    return Search(task, words, config, FakeJudge(), World(torch.device("cpu")))


@pytest.mark.parametrize(("swaps", "rounds"), [(15, 150), (4, 600)])
def test_it_finds_the_best_of_all_720_layouts(swaps, rounds):
    one = search(rounds=rounds, swaps=swaps)
    one.run()
    every = torch.tensor(list(itertools.permutations(range(6))))
    costs = LayoutCosts(one.task, one.words, FakeJudge(), 16).of(every).total(one.config.dial)
    assert one.archive.best[0].total(one.config.dial) == pytest.approx(float(costs.min()))
    assert one.tally.summits > 0


def test_a_seed_repeats_a_search_and_another_does_not():
    first, second, other = search(), search(), search(seed=1)
    for one in (first, second, other):
        one.run()
    assert first.archive == second.archive
    assert first.team.slots().tolist() == second.team.slots().tolist()
    assert first.team.slots().tolist() != other.team.slots().tolist()


def test_a_resumed_search_equals_one_that_never_stopped(tmp_path):
    whole, half, rest = search(rounds=20), search(rounds=9), search(rounds=20)
    whole.run()
    half.run(tmp_path / "state.json")
    rest.resume(tmp_path / "state.json")
    rest.run()
    assert rest.archive == whole.archive
    assert rest.team.climbers == whole.team.climbers
    assert rest.tally.layouts == whole.tally.layouts


def test_the_minutes_of_a_process_that_was_started_again_are_counted_from_its_first_start():
    one = search(rounds=0, minutes=1.0)
    one.tally.seconds = 90.0
    one.run(since=30.0)  # the minute is over
    assert one.tally.rounds == 0


def test_what_processes_found_is_combined():
    first, second = search(rounds=20), search(rounds=20, seed=1)
    for one in (first, second):
        one.run()
    first.tally.seconds, second.tally.seconds = 2.0, 4.0
    both = combine([first.found, second.found], at_once=2)
    best = min((one.archive.best[0] for one in (first, second)), key=lambda each: each.total(first.config.dial))
    assert both.archive.best[0] == best
    assert both.tally.layouts == first.tally.layouts + second.tally.layouts
    assert (both.tally.rounds, both.tally.seconds) == (20, 3.0)
    assert combine([search().found, first.found], at_once=1).tally.began == first.tally.began  # the first did not begin


def test_a_checkpoint_of_another_search_and_words_of_another_alphabet_are_refused(tmp_path):
    state = tmp_path / "state.json"
    search(rounds=2).run(state)
    with pytest.raises(DesignError, match="another search: its dial, seed differ"):
        search(seed=3, dial=1.0).resume(state)
    with pytest.raises(DesignError, match="nothing to resume"):
        search().resume(tmp_path / "none.json")
    state.write_text(json.dumps({"tally": {}}))
    with pytest.raises(DesignError, match="damaged"):
        search().resume(state)
    one = search()
    with pytest.raises(DesignError, match="another alphabet"):
        Search(one.task, SearchWords.from_weights({"ba": 1.0}, "ab"), one.config, FakeJudge(), one.world)
