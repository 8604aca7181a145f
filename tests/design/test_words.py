import numpy as np
import pytest

from glissando.design.words import RunningText, check_typeable, frequency
from glissando.errors import LayoutError, LexiconError
from glissando.layout import Layout
from glissando.lexicon import LOG_RANGE, Lexicon

AB = Layout.from_rows("ab", ["ab"])
ABC = Layout.from_rows("abc", ["abc"])


def lexicon(**bytes_):
    return Lexicon("test", "en", tuple(bytes_), np.array(list(bytes_.values()), dtype=np.uint8))


def test_bytes_are_logarithms():
    ten = round(255 / LOG_RANGE)  # bytes of a factor of ten
    more, less = frequency(np.array([100 + ten, 100], dtype=np.uint8))
    assert more / less == pytest.approx(10, rel=0.03)


def test_the_most_frequent_words_with_shares_of_one():
    text = RunningText.of(lexicon(ab=100, ba=200, aab=150, abb=10), [AB], 3)
    assert text.lexicon.words == ("ba", "aab", "ab")
    assert text.shares.sum() == pytest.approx(1)
    assert (np.diff(text.shares) < 0).all()
    assert 0.99 < text.coverage < 1
    assert RunningText.of(lexicon(ab=100, ba=200), [AB], 10).coverage == 1


def test_only_words_that_every_layout_can_type():
    text = RunningText.of(lexicon(ab=100, cab=200), [AB, ABC], 10)
    assert text.lexicon.words == ("ab",)


def test_words_typed_alike_count_once():
    words = Lexicon("test", "en", ("a'b", "ab"), np.array([100, 200], dtype=np.uint8))
    assert RunningText.of(words, [AB], 10).lexicon.words == ("ab",)


def test_no_word_at_all():
    with pytest.raises(LexiconError, match="lexicon test has no word that can be typed on each of: ab, abc"):
        RunningText.of(lexicon(cab=200), [AB, ABC], 10)


@pytest.mark.parametrize(
    ("word", "message"),
    [("abz", "layout 'ab' has no key for 'z' of 'abz'; its letters are ab"), ("'", 'no key for any letter of "\'"')],
)
def test_a_word_with_a_letter_that_has_no_key(word, message):
    with pytest.raises(LayoutError, match=message):
        check_typeable(word, AB)


def test_accents_and_apostrophes_are_typed_or_passed_over():
    check_typeable("á'b", AB)
