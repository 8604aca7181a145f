import numpy as np
import pytest

pytest.importorskip("matplotlib")

from glissando.errors import WeightsError
from glissando.explain import field_logits
from glissando.figures import field as module
from glissando.figures.examples import Example, find_examples
from glissando.figures.field import draw_fields, look
from glissando.layout import load_layout
from glissando.runtime import EncoderRuntime
from glissando.synth import swipe
from glissando.weights import load_weights

QWERTY = load_layout("qwerty")


@pytest.fixture(scope="module")
def encoder():
    return EncoderRuntime(load_weights())


def test_the_field_is_the_sum_of_cosines():
    coefficients = np.random.default_rng(0).normal(size=16)
    found = field_logits(coefficients, 8, 4)
    assert found.shape == (4, 8)
    slow = np.array(
        [
            [
                sum(
                    coefficients[4 * u + v] * np.cos(np.pi * u * (c + 0.5) / 8) * np.cos(np.pi * v * (r + 0.5) / 4)
                    for u in range(4)
                    for v in range(4)
                )
                for c in range(8)
            ]
            for r in range(4)
        ]
    )
    np.testing.assert_allclose(found, slow - slow.max(), atol=1e-9)


def test_the_peak_is_near_the_key_and_the_probabilities_agree(encoder):
    example = Example("hi", QWERTY, swipe("hi", QWERTY), "made up")
    for sight in look(example, encoder):
        row, column = np.unravel_index(sight.field.argmax(), sight.field.shape)
        key = QWERTY.keys[QWERTY.keys_of[sight.letter][0]]
        assert abs((column + 0.5) / sight.field.shape[1] - key.cx) < 0.1
        assert abs((row + 0.5) / sight.field.shape[0] - key.cy) < 0.34
        assert 0 < sight.emitted <= sight.chance <= 1


def test_letters_that_come_twice_are_seen_at_two_moments(encoder):
    moments = [sight.moment for sight in look(Example("here", QWERTY, swipe("here", QWERTY), ""), encoder)]
    assert moments == sorted(set(moments))


def test_only_the_cosine_basis_has_a_field(encoder, monkeypatch):
    monkeypatch.setitem(encoder.weights.card, "config", {"basis": "grid"})
    with pytest.raises(WeightsError, match="no cosine basis"):
        look(Example("hi", QWERTY, swipe("hi", QWERTY), ""), encoder)


def test_a_row_per_swipe_and_a_panel_per_letter(encoder, monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(module, "save", lambda made, *rest: figures.append(made) or [])
    draw_fields(find_examples(["qwerty:hi", "jcuken:ещё"]), encoder, tmp_path / "x")
    (made,) = figures
    titles = [axes.get_title().split()[0] for axes in made.axes if axes.get_title()]
    assert titles == ["h", "i", "е", "щ", "е"]
    assert [row.get_suptitle() for row in made.subfigs] == ["hi, qwerty, made up", "ещё, jcuken, made up"]
