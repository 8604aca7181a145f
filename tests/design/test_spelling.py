import numpy as np
import pytest

from glissando.design.spelling import Spelling
from glissando.errors import LexiconError
from glissando.lexicon import LOG_RANGE, Lexicon


def lexicon(**frequencies):
    return Lexicon("test", "en", tuple(frequencies), np.array(list(frequencies.values()), dtype=np.uint8))


def test_words_as_numbers_most_frequent_first():
    words = Spelling.of(lexicon(ab=100, ba=200, bab=150), "ab", count=3)
    assert words.words == ("ba", "bab", "ab")
    assert words.letters.tolist() == [[1, 0, 0], [1, 0, 1], [0, 1, 1]]  # what pads a word is its last letter
    assert words.lengths.tolist() == [2, 3, 2]
    assert words.weights.sum() == pytest.approx(1)
    assert words.weights[0] / words.weights[1] == pytest.approx(10 ** (50 * LOG_RANGE / 255))
    assert words.coverage == pytest.approx(1)


def test_words_typed_alike_are_one_word_that_weighs_as_much_as_both():
    words = Spelling.of(lexicon(**{"its": 100, "it's": 100, "sit": 105}), "ist", count=9)
    assert words.words == ("its", "sit")
    assert words.weights[0] == pytest.approx(2 / (2 + 10 ** (5 * LOG_RANGE / 255)))


def test_a_share_of_running_text():
    many = lexicon(aa=200, bb=200, ab=200, ba=200)
    half = Spelling.of(many, "ab", coverage=0.5)
    assert len(half) == 2
    assert half.coverage == pytest.approx(0.5)
    assert len(Spelling.of(many, "ab", coverage=0.51)) == 3


def test_a_lexicon_of_letters_without_keys_is_refused_with_their_names():
    with pytest.raises(LexiconError, match=r"no key, ж first: 50% of its text"):
        Spelling.of(lexicon(aa=200, жa=200), "a", count=5)


def test_a_few_words_without_keys_are_left_out():
    words = Spelling.of(lexicon(aa=200, aж=50, bb=190), "ab", count=5)
    assert words.words == ("aa", "bb")
    assert words.coverage < 1


def test_words_of_one_letter_are_tapped_so_they_do_not_count():
    words = Spelling.of(lexicon(a=250, ab=100, ba=100), "ab", count=5)
    assert words.words == ("ab", "ba")
    assert words.coverage == pytest.approx(1)
    with pytest.raises(LexiconError, match="no word"):
        Spelling.of(lexicon(a=250), "a", count=5)


def test_a_file_holds_it_all(tmp_path):
    words = Spelling.of(lexicon(ab=100, ba=200), "ab", count=3)
    words.save(tmp_path / "words.npz")
    back = Spelling.load(tmp_path / "words.npz")
    assert (back.words, back.alphabet, back.coverage, back.source) == (words.words, ("a", "b"), 1.0, "test")
    np.testing.assert_array_equal(back.weights, words.weights)
    (tmp_path / "bad.npz").write_bytes(b"no")
    with pytest.raises(LexiconError, match=r"bad\.npz"):
        Spelling.load(tmp_path / "bad.npz")


def test_no_words():
    with pytest.raises(LexiconError, match="no word"):
        Spelling.from_weights({}, "ab")
