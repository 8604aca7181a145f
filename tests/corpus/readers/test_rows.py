"""Points and words as public corpora record them."""

import pytest

from glissando.corpus.readers.rows import UnusableRowError, bare_word, usable_gesture


def test_time_counts_from_the_first_point() -> None:
    gesture = usable_gesture([0.1, 0.2], [0.3, 0.4], [1576480557856, 1576480557864])
    assert gesture.t.tolist() == [0, 8]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (([0, 0], [0, 0], [5, 4]), "time runs backwards"),
        (([0, float("nan")], [0, 0], [5, 6]), "unusable points"),
        (([0], [0, 0], [5, 6]), "unusable points"),
        (([0, 0], [0, 0], [5, None]), "unusable points"),
        (([0, 0], [0, 0], ["5", "6"]), "unusable points"),
        (([0, None], [0, 0], [5, 6]), "unusable points"),
        (([10**400], [0], [5]), "unusable points"),
        (([], [], []), "unusable points"),
    ],
)
def test_what_is_no_gesture(columns: tuple[list[object], list[object], list[object]], reason: str) -> None:
    with pytest.raises(UnusableRowError, match=reason):
        usable_gesture(*columns)


@pytest.mark.parametrize(
    ("word", "bare"), [("“Isn't,", "isn't"), ("Well-known.", "well-known"), ("É", "é"), ("7th", "7th")]
)
def test_punctuation_and_capitals(word: str, bare: str) -> None:
    assert bare_word(word) == bare


def test_a_word_without_letters() -> None:
    with pytest.raises(UnusableRowError, match="no letter in the word"):
        bare_word("--")
