import numpy as np
import pytest

from glissando.design.travel import LIFT_MS, travel
from glissando.design.words import RunningText
from glissando.layout import Layout
from glissando.lexicon import Lexicon
from glissando.synth import DWELL_MS, TAP_MS

# Four keys of 10 mm in a row, on a letter area of 40 mm.
ROW = Layout.from_rows("row", ["abcd"], aspect=0.25)


def measure(*words, layout=ROW):
    lexicon = Lexicon("test", "", words, np.full(len(words), 100, dtype=np.uint8))
    return travel(layout, RunningText.of(lexicon, [layout], 99), width_mm=40.0)


def test_one_leg_by_hand():
    found = measure("ac")
    assert found.key_mm == pytest.approx(10)
    assert found.mm == pytest.approx(10)  # 20 mm for two letters
    assert found.key_widths == pytest.approx(1)
    assert found.word_ms == pytest.approx(68.8 * 20**0.469)
    # Two letters and a space are 3/5 of a word.
    assert found.words_per_minute == pytest.approx(0.6 * 60_000 / (found.word_ms + LIFT_MS))


def test_doubled_letters_rest_and_single_ones_are_tapped():
    assert measure("acc").word_ms == pytest.approx(measure("ac").word_ms + DWELL_MS)
    assert measure("a").word_ms == TAP_MS
    assert measure("a").mm == 0


def test_means_are_over_running_text():
    assert measure("ab", "ad").mm == pytest.approx((10 + 30) / 4)
    assert measure("ab", "ad").word_ms == pytest.approx((measure("ab").word_ms + measure("ad").word_ms) / 2)


def test_a_tighter_layout_is_faster():
    near = Layout.from_rows("near", ["adbc"], aspect=0.25)
    assert measure("ad", layout=near).words_per_minute > measure("ad").words_per_minute
