"""The best sequence: against all sequences there are, and what it shares out."""

from itertools import product

import numpy as np
import pytest

from glissando.ngrams import build_context
from glissando.scoring import softmax
from glissando.sentence import Slot, best_sequence


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("I feel good\nI fell down\nyou feel good\nwe fell down\nthe well is deep\n" * 3)
    return build_context([path], {"language": "en"}, 100_000)


def slot(context, weight=1.0, **logs):
    return Slot(context.number(logs), np.array(list(logs.values()), dtype=np.float64), weight)


def all_sequences(slots, context, text):
    """Every sequence with its probability, one by one."""
    scored = {}
    for places in product(*(range(len(one.logs)) for one in slots)):
        state, total = context.state(text), 0.0
        for one, place in zip(slots, places, strict=True):
            outlook = context.follow(state)
            total += one.logs[place] + one.weight * (outlook.gains(one.numbers)[place] + outlook.unseen)
            state = context.advance(state, int(one.numbers[place]))
        scored[places] = total
    return dict(zip(scored, softmax(list(scored.values())), strict=True))


def test_it_finds_the_best_of_all_sequences(context):
    slots = [
        slot(context, 1.3, i=0, u=-1),
        slot(context, 1.5, fell=0, feel=-0.5, well=-1, zzz=-2),
        slot(context, 1.3, good=0, down=-3),
    ]
    expected = all_sequences(slots, context, "")
    places, shares, probability = best_sequence(slots, context, "")
    assert places == max(expected, key=expected.get) == (0, 1, 0)
    assert probability == pytest.approx(max(expected.values()), abs=1e-3)
    for at, share in enumerate(shares):
        assert share.sum() == pytest.approx(1)
        for place in range(len(share)):
            alike = sum(value for places, value in expected.items() if places[at] == place)
            assert share[place] == pytest.approx(alike, abs=1e-3)


def test_the_next_word_changes_the_one_before(context):
    first, good, down = slot(context, fell=0, feel=-0.2), slot(context, good=0), slot(context, down=0)
    assert best_sequence([first], context, "I")[0] == (0,)
    assert best_sequence([first, good], context, "I")[0] == (1, 0)
    assert best_sequence([first, down], context, "I")[0] == (0, 0)


def test_without_context_every_swipe_stands_alone(context):
    for given, weight in ((None, 1.0), (context, 0.0)):
        slots = [slot(context, weight, fell=0, feel=-0.2), slot(context, weight, good=-1, down=0)]
        places, shares, probability = best_sequence(slots, given, "I")
        assert places == (0, 1)
        assert shares[0] == pytest.approx(softmax([0, -0.2]))
        assert probability == pytest.approx(shares[0][0] * shares[1][1])


def test_a_swipe_that_no_word_fits_leaves_a_gap(context):
    empty = Slot(np.zeros(0, np.int32), np.zeros(0), 1.0)
    for given in (context, None):
        places, shares, _ = best_sequence([slot(context, i=0), empty, slot(context, good=0)], given, "")
        assert places == (0, -1, 0)
        assert len(shares[1]) == 0
    assert best_sequence([], context, "") == ((), [], 1.0)
