import numpy as np
import pytest
from design.fakes import lexicon

from glissando.design.words import RunningText, SearchWords, check_typeable
from glissando.errors import LayoutError, LexiconError
from glissando.layout import Layout
from glissando.lexicon import LOG_RANGE

AB = Layout.from_rows("ab", ["ab"])
ABC = Layout.from_rows("abc", ["abc"])


def typed(words):
    """The words as they are typed."""
    rows = zip(words.letters.tolist(), words.lengths.tolist(), strict=True)
    return tuple("".join(words.alphabet[letter] for letter in row[:length]) for row, length in rows)


def test_words_as_numbers_most_frequent_first():
    words = SearchWords.choose(lexicon(ab=100, ba=200, bab=150), "ab", count=3)
    assert typed(words) == ("ba", "bab", "ab")
    assert words.letters.tolist() == [[1, 0, 0], [1, 0, 1], [0, 1, 1]]  # a word is padded with its last letter
    assert words.lengths.tolist() == [2, 3, 2]
    assert words.weights.sum() == pytest.approx(1)
    assert words.weights[0] / words.weights[1] == pytest.approx(10 ** (50 * LOG_RANGE / 255))
    assert words.coverage == pytest.approx(1)
    some = SearchWords.choose(lexicon("aa", "bb", "ab", "ba"), "ab", coverage=0.51)
    assert (len(some), some.coverage) == (3, pytest.approx(0.75))


def test_words_typed_alike_are_one_word_that_weighs_as_much_as_both():
    words = SearchWords.choose(lexicon(**{"its": 100, "it's": 100, "sit": 105}), "ist", count=9)
    assert typed(words) == ("its", "sit")
    assert words.weights[0] == pytest.approx(2 / (2 + 10 ** (5 * LOG_RANGE / 255)))


def test_words_without_keys_are_left_out_or_refused_if_they_are_many():
    words = SearchWords.choose(lexicon(aa=200, aж=50, bb=190), "ab", count=5)
    assert typed(words) == ("aa", "bb")
    assert words.coverage < 1
    with pytest.raises(LexiconError, match=r"no key, ж first: 50% of its text"):
        SearchWords.choose(lexicon(aa=200, жa=200), "a", count=5)


def test_words_of_one_letter_are_tapped_so_they_do_not_count():
    assert typed(SearchWords.choose(lexicon(a=250, ab=100, ba=100), "ab", count=5)) == ("ab", "ba")
    with pytest.raises(LexiconError, match="no word"):
        SearchWords.choose(lexicon(a=250), "a", count=5)


def test_a_file_holds_it_all(tmp_path):
    words = SearchWords.choose(lexicon(ab=100, ba=200), "ab", count=3)
    words.save(tmp_path / "words.npz")
    back = SearchWords.load(tmp_path / "words.npz")
    assert (typed(back), back.alphabet, back.coverage, back.source) == (typed(words), ("a", "b"), 1.0, "test")
    np.testing.assert_array_equal(back.weights, words.weights)
    (tmp_path / "bad.npz").write_bytes(b"no")
    with pytest.raises(LexiconError, match=r"bad\.npz"):
        SearchWords.load(tmp_path / "bad.npz")


def test_running_text_has_the_most_frequent_words_with_shares_of_one():
    text = RunningText.choose(lexicon(ab=100, ba=200, aab=150, abb=10), [AB], 3)
    assert text.lexicon.words == ("ba", "aab", "ab")
    assert text.shares.sum() == pytest.approx(1)
    assert (np.diff(text.shares) < 0).all()
    assert 0.99 < text.coverage < 1
    assert RunningText.choose(lexicon(ab=100, ba=200), [AB], 10).coverage == 1


def test_running_text_has_only_words_that_every_layout_can_type_and_tell_apart():
    assert RunningText.choose(lexicon(ab=100, cab=200), [AB, ABC], 10).lexicon.words == ("ab",)
    assert RunningText.choose(lexicon(**{"a'b": 100, "ab": 200}), [AB], 10).lexicon.words == ("ab",)
    with pytest.raises(LexiconError, match="lexicon test has no word that can be typed on each of: ab, abc"):
        RunningText.choose(lexicon(cab=200), [AB, ABC], 10)


def test_a_word_with_a_letter_that_has_no_key():
    check_typeable("á'b", AB)  # accents fall back on the letter, apostrophes are passed over
    with pytest.raises(LayoutError, match="layout 'ab' has no key for 'z' of 'abz'; its letters are ab"):
        check_typeable("abz", AB)
    with pytest.raises(LayoutError, match='no key for any letter of "\'"'):
        check_typeable("'", AB)
