import pytest
from design.fakes import lexicon

from glissando.design.measures import LIFT_MS, measure_colinearity, measure_travel
from glissando.design.words import RunningText
from glissando.layout import Layout
from glissando.synth import DWELL_MS, TAP_MS

# Square keys in a 3 x 3 grid: what is in line can be seen.
GRID = Layout.from_rows("grid", ["abc", "def", "ghi"], aspect=1.0)
# Four keys of 10 mm in a row, on a letter area of 40 mm.
ROW = Layout.from_rows("row", ["abcd"], aspect=0.25)


def colinearity(*words):
    return measure_colinearity(GRID, RunningText.choose(lexicon(*words), [GRID], 99))


def travel(*words, layout=ROW):
    return measure_travel(layout, RunningText.choose(lexicon(*words), [layout], 99), width_mm=40.0)


@pytest.mark.parametrize(
    ("word", "hidden"),
    [
        ("abc", True),  # b lies between
        ("aei", True),  # along the diagonal
        ("acb", False),  # c is the turning point
        ("aba", False),  # there and back
        ("abe", False),  # a corner
        ("abbc", True),  # a doubled letter counts once
        ("ab", False),
    ],
)
def test_colinear_by_hand(word, hidden):
    assert (colinearity(word).word_share == 1.0) == hidden


def test_counts_weigh_running_text():
    counts = colinearity("abc", "abe", "abeb")
    assert (counts.distinct, counts.colinear) == (3, 1)  # abc, abe, beb
    assert counts.trigram_share == pytest.approx(1 / 4)
    assert counts.word_share == pytest.approx(1 / 3)
    (worst,) = counts.worst
    assert (worst.letters, worst.clearance, worst.share) == ("abc", 0.0, pytest.approx(1 / 4))


def test_the_travel_of_one_leg_by_hand():
    one = travel("ac")
    assert one.key_mm == pytest.approx(10)
    assert one.mm == pytest.approx(10)  # 20 mm for two letters
    assert one.key_widths == pytest.approx(1)
    assert one.word_ms == pytest.approx(68.8 * 20**0.469)
    # Two letters and a space are 3/5 of a word.
    assert one.words_per_minute == pytest.approx(0.6 * 60_000 / (one.word_ms + LIFT_MS))


def test_travel_is_a_mean_over_running_text():
    assert travel("ab", "ad").mm == pytest.approx((10 + 30) / 4)
    assert travel("acc").word_ms == pytest.approx(travel("ac").word_ms + DWELL_MS)
    assert (travel("a").word_ms, travel("a").mm) == (TAP_MS, 0)
    assert travel("ab", "ad").word_ms == pytest.approx((travel("ab").word_ms + travel("ad").word_ms) / 2)
    near = Layout.from_rows("near", ["adbc"], aspect=0.25)
    assert travel("ad", layout=near).words_per_minute > travel("ad").words_per_minute
