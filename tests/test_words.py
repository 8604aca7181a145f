import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glissando import words as module
from glissando.words import PackedWords

SOME = ("the", "don't", "café", "привет", "हिन्दी", "")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_words_come_back(words):
    packed = PackedWords.of(words)
    assert list(packed) == words
    assert [packed[i] for i in range(len(packed))] == words
    assert len(packed) == len(words)


def test_they_are_a_sequence_like_any_other():
    words = PackedWords.of(SOME)
    assert words == SOME
    assert words != SOME[:-1]
    assert words == PackedWords.of(list(SOME))
    assert hash(words) == hash(PackedWords.of(SOME))
    assert (words[-1], words[1:3], words[np.int32(3)]) == ("", ("don't", "café"), "привет")
    assert "café" in words
    assert "cafe" not in words
    assert words.index("привет") == 3
    assert PackedWords.of(words) is words
    with pytest.raises(IndexError, match="word 6 of 6"):
        words[6]
    assert repr(words) == "PackedWords('the', \"don't\", 'café', ...; 6 in all)"


@given(st.lists(st.text("abcé", max_size=4)), st.lists(st.text("abcé", max_size=4)))
def test_words_are_found(words, asked):
    found = PackedWords.of(words).find(asked)
    assert found.shape == (len(asked),)
    for word, place in zip(asked, found.tolist(), strict=True):
        assert (words[place] == word) if place >= 0 else (word not in words)


def test_words_of_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(module, "FACTORS", np.zeros(256, np.uint64))  # every hash is 0
    words = PackedWords.of(SOME)
    assert words.find([*SOME, "nowhere"]).tolist() == [*range(len(SOME)), -1]


def test_many_words_are_found(monkeypatch):
    monkeypatch.setattr(module, "HASH_BLOCK", 7)
    words = [f"w{number}" * (1 + number % 90) for number in range(500)]  # some longer than there are factors
    assert PackedWords.of(words).find(words[::-1]).tolist() == list(range(499, -1, -1))
