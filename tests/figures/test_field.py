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
HERE = Example("here", QWERTY, swipe("here", QWERTY), "made up")


@pytest.fixture(scope="module")
def encoder():
    return EncoderRuntime(load_weights())


def test_the_peak_is_near_the_key_and_the_probabilities_agree(encoder):
    fields = letter_fields(HERE, encoder)
    moments = [one.moment for one in fields]
    assert moments == sorted(set(moments))  # a letter that comes twice is seen at two moments
    for one in fields:
        row, column = np.unravel_index(one.field.argmax(), one.field.shape)
        key = QWERTY.keys[QWERTY.keys_of[one.letter][0]]
        assert abs((column + 0.5) / one.field.shape[1] - key.cx) < 0.1
        assert abs((row + 0.5) / one.field.shape[0] - key.cy) < 0.34
        assert 0 < one.emitted <= one.chance <= 1


def test_only_the_cosine_basis_has_a_field(encoder, monkeypatch):
    monkeypatch.setitem(encoder.weights.card, "config", {"basis": "grid"})
    with pytest.raises(WeightsError, match="no cosine basis"):
        letter_fields(HERE, encoder)


def test_a_row_per_swipe_and_a_panel_per_letter(encoder):
    drawn = draw_fields(find_examples(["qwerty:hi", "jcuken:ещё"]), encoder)
    titles = [axes.get_title().split()[0] for axes in drawn.axes if axes.get_title()]
    assert titles == ["h", "i", "е", "щ", "е"]
    assert [row.get_suptitle() for row in drawn.subfigs] == ["hi, qwerty, made up", "ещё, jcuken, made up"]
