"""The words of a keyboard from three trees: lexicon, own words, literals."""

from dataclasses import replace

import numpy as np
import pytest
from scripted import SCORING, SWIPE, doubting, scripted_keyboard

from glissando.errors import LexiconError, VocabularyError
from glissando.lexicon import Lexicon, join_lexicons
from glissando.scoring import Candidates
from glissando.stages import LEXICON, LITERAL, OWN

OPEN = replace(SCORING, fluency_weight=0.1, literal_bonus=2.0, none_bonus=-4.0, none_share=0.5, doubt=1.0)


def open_keyboard(words, **options):
    return scripted_keyboard(words, scoring=OPEN, **options)


def test_a_literal_is_offered_where_the_lexicon_lacks_the_word():
    board = open_keyboard({"a": 10, "cc": 10})
    found = board.decode(SWIPE)
    assert (found[0].word, found[0].literal, found[0].frequency) == ("ab", True, 0)
    assert not any(one.literal for one in scripted_keyboard({"a": 10, "cc": 10}).decode(SWIPE))
    listed = open_keyboard({"ab": 10}).decode(SWIPE, 50)
    assert [one.literal for one in listed if one.letters == "ab"] == [False]


def test_a_literal_scores_by_its_fluency():
    board = open_keyboard({"a": 10, "cc": 10})
    one = board.decode(SWIPE)[0]
    fluency = board.dictionary.fluency.of((0, 1))
    assert one.score == pytest.approx(one.log_prob + OPEN.literal_bonus + OPEN.fluency_weight * fluency, abs=1e-5)


def test_a_plain_word_needs_no_literal():
    sure = [[0.98, 0.01, 0.005, 0.005], [0.01, 0.98, 0.005, 0.005]]
    board = open_keyboard({"ab": 10, "cc": 10}, probabilities=sure)
    board = board.replace(scoring=replace(OPEN, doubt=0.9))
    spellings = board.find(SWIPE, board.read([SWIPE]))
    assert spellings.trees[LITERAL] is None
    doubtful = board.replace(scoring=replace(OPEN, doubt=1.0))
    assert doubtful.find(SWIPE, board.read([SWIPE])).trees[LITERAL] is not None


def test_none_takes_its_share():
    board = open_keyboard({"ab": 10, "ac": 10})
    found = board.decode(SWIPE, 100)
    scores = np.array([one.score for one in found])
    none = OPEN.none_bonus + OPEN.none_share * scores.max()
    shares = np.exp(scores) / (np.exp(scores).sum() + np.exp(none))
    assert [one.probability for one in found] == pytest.approx(shares.tolist())
    assert found.none == pytest.approx(1 - shares.sum())
    assert board.decode(SWIPE, 1).none == pytest.approx(1 - shares[0])
    closed = board.replace(scoring=OPEN.closed()).decode(SWIPE, 100)
    assert closed.none == pytest.approx(0, abs=1e-12)
    assert Candidates().none == 1.0


def test_the_matcher_compares_literals_too():
    matched = replace(OPEN, matcher_weight=1.0)
    board = doubting({"ab": 10, "cb": 10})
    board = board.replace(scoring=replace(OPEN, matched=matched))
    stages = board.stages([SWIPE])
    spellings, matches = stages.spellings[0], stages.matches[0]
    assert set(spellings.source.tolist()) == {LEXICON, LITERAL}
    assert len(matches) == len(spellings)
    assert matches.max() == 0


def test_own_words_are_found_beside_the_lexicon_at_once_and_forgotten():
    board = scripted_keyboard({"a": 10, "cc": 10})
    board.learn("Ab")
    found = board.decode(SWIPE)
    assert (found[0].word, found[0].letters, found[0].frequency, found[0].literal) == ("Ab", "ab", 60, False)
    assert board.find(SWIPE, board.read([SWIPE])).source.tolist().count(OWN) == 1
    assert board.replace(width=50).decode(SWIPE) == found  # a variant is of the same person
    assert board.forget("Ab")
    assert not board.forget("Ab")
    assert [one.word for one in board.decode(SWIPE)] == ["a", "cc"]


def test_a_word_of_the_lexicon_that_is_used_counts_more_and_stands_once():
    board = scripted_keyboard({"ab": 10, "ac": 90})
    for _ in range(3):
        board.learn("ab")
    found = board.decode(SWIPE)
    assert [one.word for one in found] == ["ab", "ac"]
    assert {one.word: one.frequency for one in found} == {"ab": round(board.vocabulary.bytes()[0]), "ac": 90}
    board.learn("Ab")  # another surface form, which the lexicon lacks
    assert sorted(one.word for one in board.decode(SWIPE)) == ["Ab", "ab", "ac"]


def test_a_word_without_a_letter_of_the_layout_cannot_be_learned():
    board = scripted_keyboard({"ab": 10})
    with pytest.raises(VocabularyError, match="has no letter of layout 'test'"):
        board.learn("слово")
    with pytest.raises(VocabularyError, match="is not a word"):
        board.learn("a b")
    assert len(board.vocabulary) == 0


def test_ten_thousand_words_are_learned_in_a_row():
    board = scripted_keyboard({"ab": 10})
    letters = np.array(list("abc"))
    rng = np.random.default_rng(0)
    for _ in range(10_100):
        board.vocabulary.learn("".join(rng.choice(letters, 12)))
    assert len(board.vocabulary) <= 10_000
    assert board.decode(SWIPE)[0].word == "ab"


def test_tapped_letters_bound_words_own_words_and_literals():
    board = open_keyboard({"ab": 10, "cb": 10, "ba": 10})
    board.learn("bb")
    for prefix, suffix in (("c", ""), ("", "a"), ("b", "b")):
        found = board.decode(SWIPE, 50, prefix=prefix, suffix=suffix)
        assert found
        assert all(one.letters.startswith(prefix) and one.letters.endswith(suffix) for one in found)
    assert [one.word for one in board.decode(SWIPE, prefix="b", suffix="b") if not one.literal] == ["bb"]
    with pytest.raises(LexiconError, match="'z' of 'z' is not on the layout"):
        board.decode(SWIPE, prefix="z")


def test_accepted_words_are_learned_from():
    board = open_keyboard({"a": 10, "ab": 10, "cc": 10})
    board.accept(SWIPE, "ab")  # a word of the lexicon: the ranking learns, the vocabulary does not
    assert (len(board.habits), board.vocabulary.words) == (1, ())
    board.accept(SWIPE, "Bab")  # three letters, which two frames cannot spell
    assert (len(board.habits), board.vocabulary.words) == (1, ("Bab",))
    board.accept(SWIPE, "ac")  # a literal: it becomes an own word, which counts from the next time on
    assert (len(board.habits), board.vocabulary.words) == (1, ("Bab", "ac"))
    board.accept(SWIPE, "ac")
    assert len(board.habits) == 2
    for _ in range(10):
        board.accept(SWIPE, "a")
    assert board.constants != board.scoring
    board.habits.forget()
    assert board.constants is board.scoring


def test_several_languages_follow_the_text():
    english = Lexicon.from_counts({"ab": 9, "cab": 9, "a": 9, "c": 1}, name="english", language="en")
    german = Lexicon.from_counts({"ac": 9, "cac": 9, "a": 9, "b": 1}, name="german", language="de")
    frames = [[0.9, 0.02, 0.02, 0.06], [0.05, 0.45, 0.45, 0.05]]
    board = scripted_keyboard({"ab": 1}, frames, scoring=replace(SCORING, frequency_weight=0.1))
    board = board.replace(lexicon=join_lexicons([english, german]))
    for text, word, language in ((None, "ab", "en"), ("cab ab cab", "ab", "en"), ("cac ac cac", "ac", "de")):
        first = board.decode(SWIPE, context=text)[0]
        assert (first.word, first.language) == (word, language)
    alone = board.replace(lexicon=german).decode(SWIPE)
    assert [one.language for one in alone] == ["de"] * len(alone)
    sentence = board.decode_sentence([SWIPE, SWIPE], context="cac ac")
    assert sentence.words == ("ac", "ac")


def test_languages_that_share_no_layout_are_refused():
    greek = Lexicon.from_counts({"αβ": 1, "βα": 1}, language="el")
    board = scripted_keyboard({"ab": 1})
    joined = join_lexicons([Lexicon.from_counts({"ab": 1}, language="en"), greek])
    with pytest.raises(LexiconError, match="language 'el' cannot be typed"):
        board.replace(lexicon=joined)
