"""The table of letters in a bundle: what is written comes back, and a table of another size is refused."""

import numpy as np
import pytest

import glissando
from glissando.errors import BundleError
from glissando.export.fluency import fluency_bytes, has_literals, read_fluency, variant, with_fluency
from glissando.literal import Fluency


@pytest.fixture(scope="module")
def keyboard(tiny_weights):
    return glissando.load(
        "qwerty", lexicon={"hello": 3, "jello": 1}, weights=tiny_weights, scoring={"fluency_weight": 0.4}
    )


def test_the_last_letter_of_a_gram_runs_fastest():
    """Of two letters and the sign around words, grams of two: b after a is at 0 * 3 + 1."""
    costs = np.arange(9, dtype=np.uint8)
    data = fluency_bytes(Fluency(("a", "b"), 2, costs))
    assert data == bytes(range(9))
    again = read_fluency(data, ("a", "b"), {"order": 2})
    # The beginning, a, b, the end: 2 0, 0 1, 1 2.
    assert again.of([0, 1]) == -(6 + 1 + 5) / 16


@pytest.mark.parametrize("order", [1, 3, 0, None, "2", 99])
def test_a_table_of_another_size_is_refused(order):
    with pytest.raises(BundleError, match=r"fluency\.bin has 9 bytes"):
        read_fluency(bytes(9), ("a", "b"), {"order": order})


def test_a_variant_shares_the_table_and_a_keyboard_can_be_given_one(keyboard):
    assert has_literals(keyboard)
    assert variant(keyboard, width=7).dictionary.fluency is keyboard.dictionary.fluency
    other = Fluency(keyboard.trie.letters, 1, np.zeros(27, np.uint8))
    assert with_fluency(keyboard.replace(width=9), other).dictionary.fluency is other
    assert not has_literals(keyboard.replace(scoring=keyboard.scoring.closed()))
