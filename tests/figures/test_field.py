import numpy as np
import pytest

pytest.importorskip("matplotlib")

from glissando.errors import WeightsError
from glissando.figures.examples import Example, find_examples
from glissando.figures.field import draw_fields, letter_fields
from glissando.layout import load_layout
from glissando.runtime import EncoderRuntime
from glissando.synth import swipe
from glissando.weights import load_weights

QWERTY = load_layout("qwerty")


@pytest.fixture(scope="module")
def encoder():
    return EncoderRuntime(load_weights())


def test_the_peak_is_near_the_key_and_the_probabilities_agree(encoder):
    example = Example("hi", QWERTY, swipe("hi", QWERTY), "made up")
    for one in letter_fields(example, encoder):
        row, column = np.unravel_index(one.field.argmax(), one.field.shape)
        key = QWERTY.keys[QWERTY.keys_of[one.letter][0]]
        assert abs((column + 0.5) / one.field.shape[1] - key.cx) < 0.1
        assert abs((row + 0.5) / one.field.shape[0] - key.cy) < 0.34
        assert 0 < one.emitted <= one.chance <= 1


def test_letters_that_come_twice_are_seen_at_two_moments(encoder):
    moments = [one.moment for one in letter_fields(Example("here", QWERTY, swipe("here", QWERTY), ""), encoder)]
    assert moments == sorted(set(moments))


def test_only_the_cosine_basis_has_a_field(encoder, monkeypatch):
    monkeypatch.setitem(encoder.weights.card, "config", {"basis": "grid"})
    with pytest.raises(WeightsError, match="no cosine basis"):
        letter_fields(Example("hi", QWERTY, swipe("hi", QWERTY), ""), encoder)


def test_a_row_per_swipe_and_a_panel_per_letter(encoder):
    drawn = draw_fields(find_examples(["qwerty:hi", "jcuken:ещё"]), encoder)
    titles = [axes.get_title().split()[0] for axes in drawn.axes if axes.get_title()]
    assert titles == ["h", "i", "е", "щ", "е"]
    assert [row.get_suptitle() for row in drawn.subfigs] == ["hi, qwerty, made up", "ещё, jcuken, made up"]
