"""A text being written: spaces, capitals, corrections; and the next word that changes the one before."""

from dataclasses import replace

import numpy as np
import pytest
from scripted import SCORING, SWIPE, scripted_keyboard

from glissando.draft import Draft, capitalise, needs_space
from glissando.keyboard import Finalists
from glissando.layout import load_layout
from glissando.lexicon import Lexicon, join_lexicons
from glissando.ngrams import build_context
from glissando.scoring import Scoring

WORDS = ["i", "fell", "feel", "good", "down", "hello", "Berlin", "you", "it's", "its"]


class Scripted:
    """A keyboard whose swipes are words with their scores, so that a test says what a swipe may mean."""

    def __init__(self, context):
        bytes_ = np.full(len(WORDS), 100, dtype=np.uint8)
        board = scripted_keyboard({"ab": 1}).replace(lexicon=Lexicon("t", "en", tuple(WORDS), bytes_), context=context)
        self.layout = load_layout("qwerty")
        self.lexicon, self.join, self.dictionary = board.lexicon, board.join, board.dictionary
        self.accepted, self.asked = [], []

    def accept(self, points, word):
        self.accepted.append((points, word))

    def finalists(self, words, prefix="", suffix=""):
        self.asked.append((prefix, suffix))
        scores = np.array(list(words.values()), dtype=np.float64)
        indices, count = np.array([WORDS.index(word) for word in words], dtype=np.int64), len(words)
        literal = np.zeros(count, dtype=bool)
        return Finalists(indices, [], scores, scores, np.zeros(count), np.arange(count), literal, Scoring())


@pytest.fixture(scope="module")
def keyboard(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("I feel good\nI fell down\nyou feel good\nhello you\nit's good\n" * 3)
    return Scripted(build_context([path], {"language": "en"}, 100_000))


def swiped(keyboard, *words, text=""):
    draft = Draft(keyboard, text)
    for word in words:
        draft.swipe({word: 0})
    return draft


def test_spaces_and_capitals(keyboard):
    draft = swiped(keyboard, "hello", "you")
    assert draft.text == "Hello you"
    draft.tap(",")
    draft.swipe({"i": 0})
    draft.swipe({"feel": 0})
    draft.tap(".")
    draft.swipe({"its": 0})
    assert draft.text == "Hello you, I feel. Its"
    draft.swipe({"Berlin": 0})
    draft.tap("!")
    assert draft.text == "Hello you, I feel. Its Berlin!"
    assert draft.words == ("Hello", "you", "I", "feel", "Its", "Berlin")


def test_taps(keyboard):
    draft = Draft(keyboard)
    draft.tap("a ")
    draft.swipe({"good": 0})
    draft.tap("(")
    draft.swipe({"hello": 0})
    draft.tap(")")
    assert draft.text == "A good (hello)"
    draft.tap("x")  # after a swiped word and its mark a letter begins a new word
    assert draft.text == "A good (hello) x"
    draft = swiped(keyboard, "you")
    draft.tap("'re 3.5 ")
    assert draft.text == "You're 3.5 "
    draft = swiped(keyboard, "you")
    draft.tap(" and i ")
    assert draft.text == "You and I "
    draft.tap("\n")
    draft.swipe({"hello": 0})
    assert draft.text == "You and I \nHello"


def test_backspace_takes_back_a_swipe_and_else_a_character(keyboard):
    draft = swiped(keyboard, "hello", "you")
    draft.tap("!")
    draft.backspace()
    assert draft.text == "Hello you"
    draft.backspace()
    assert draft.text == "Hello"
    draft.backspace()
    assert draft.text == ""
    draft.backspace()
    assert draft.text == ""
    draft = swiped(keyboard, "hello")
    draft.tap(" ")
    draft.backspace()
    draft.tap("o")
    assert draft.text == "Hello o"
    for left in ("Hello ", "Hello", ""):  # the letter, the space, the word
        draft.backspace()
        assert draft.text == left
    assert draft.words == ()


def test_choose_writes_another_word_where_the_old_one_was(keyboard):
    draft = swiped(keyboard, "its", "good")
    draft.choose("it's", 0)
    assert draft.text == "It's good"
    draft.choose("down")
    assert draft.text == "It's down"
    assert draft.words == ("It's", "down")
    with pytest.raises(IndexError):
        Draft(keyboard).choose("good")


def test_the_next_word_can_change_the_one_before(keyboard):
    draft = swiped(keyboard, "i")
    assert draft.swipe({"fell": 0, "feel": -0.2}).word == "fell"
    answer = draft.swipe({"good": 0})
    assert draft.text == "I fell good"  # it says so, and leaves the text alone
    (revision,) = answer.revisions
    assert (revision.place, revision.before, revision.word) == (1, "fell", "feel")
    assert 0.5 < revision.probability < 1
    draft.choose(revision.word, revision.place)
    assert draft.text == "I feel good"
    assert draft.swipe({"you": 0}).revisions == ()


def test_what_a_person_chose_or_divided_is_not_questioned(keyboard):
    draft = swiped(keyboard, "i")
    draft.swipe({"feel": 0, "fell": -0.2})
    draft.choose("fell")
    assert draft.swipe({"good": 0}).revisions == ()
    draft = swiped(keyboard, "i")
    draft.swipe({"fell": 0, "feel": -0.2})
    draft.tap(".")
    assert draft.swipe({"good": 0}).revisions == ()


def test_the_text_before_counts(keyboard):
    draft = Draft(keyboard, "I feel")
    assert draft.swipe({"down": 0, "good": -0.5}).word == "good"
    assert Draft(keyboard, "0").swipe({"down": 0, "good": -0.5}).word == "down"


def test_a_swipe_that_no_word_fits_writes_nothing(keyboard):
    draft = swiped(keyboard, "hello")
    answer = draft.swipe({})
    assert (answer.word, answer.candidates, answer.revisions) == ("", [], ())
    assert draft.text == "Hello"


def test_rules():
    assert [needs_space(text) for text in ("a", "a.", "“", "e-", "a\n")] == [True, True, False, False, False]
    assert capitalise("hello", "Yes? ", "en") == "Hello"
    assert capitalise("hello", "yes, ", "en") == "hello"
    assert capitalise("i'll", "yes", "en") == "I'll"
    assert capitalise("i", "y", "pl") == "i"
    assert capitalise("été", "", "fr") == "Été"
    assert capitalise("", "", "en") == ""


def test_learning_teaches_the_words_that_stand_in_the_text_once(keyboard):
    keyboard.accepted.clear()
    draft = swiped(keyboard, "hello", "its", "Berlin")
    draft.choose("it's", 1)
    draft.swipe({"good": 0, "down": -1})
    draft.backspace()  # what was taken back is not learned
    assert draft.text == "Hello it's Berlin"
    assert draft.learn() == 3
    assert keyboard.accepted == [({"hello": 0}, "hello"), ({"its": 0}, "it's"), ({"Berlin": 0}, "Berlin")]
    assert draft.learn() == 0
    draft.choose("its", 1)  # a word that was corrected is learned again
    assert draft.learn() == 1
    assert keyboard.accepted[-1] == ({"its": 0}, "its")


def test_a_chosen_word_is_learned_as_the_list_writes_it(keyboard):
    keyboard.accepted.clear()
    draft = Draft(keyboard)
    draft.swipe({"fell": 0, "feel": -1})
    draft.choose("Feel")  # as a strip shows it at the beginning of a sentence
    draft.learn()
    draft.choose("Taigang")  # a name is learned as it was given
    draft.learn()
    assert [word for _, word in keyboard.accepted] == ["feel", "Taigang"]


def test_what_is_no_word_or_does_not_stand_there_any_more_is_not_learned(keyboard):
    draft = swiped(keyboard, "hello", "good", "you")
    draft.choose("42", 0)
    draft.choose("two words", 1)
    draft.text = "changed from outside"
    assert draft.learn() == 0
    draft = swiped(keyboard, "hello")
    draft.choose("привет")
    assert draft.learn() == 0  # the layout has none of its letters


def test_a_real_keyboard_learns_from_a_draft():
    board = scripted_keyboard({"ab": 10, "ac": 10, "b": 10})
    draft = Draft(board)
    draft.swipe(SWIPE)
    assert draft.text == "Ab"
    draft.choose("ba")
    assert draft.learn() == 1
    assert board.vocabulary.words == ("ba",)
    draft.swipe(SWIPE, prefix="b")
    assert draft.words == ("Ba", "b")
    draft.learn()
    assert len(board.habits) == 1  # "b" is in the list; "ba" was not found when it was learned


def test_tapped_letters_narrow_a_swipe(keyboard):
    keyboard.asked.clear()
    draft = Draft(keyboard)
    draft.tap("un")
    draft.swipe({"good": 0})
    draft.swipe({"down": 0}, prefix="d", suffix="n")
    assert keyboard.asked == [("", ""), ("d", "n")]


def test_a_literal_begins_a_sentence_with_a_capital():
    scoring = replace(SCORING, fluency_weight=0.01, literal_bonus=9.0)
    draft = Draft(scripted_keyboard({"bc": 10, "ca": 10}, scoring=scoring))
    answer = draft.swipe(SWIPE)
    assert answer.candidates[0].literal
    assert (answer.word, draft.text, answer.candidates[0].word) == ("Ab", "Ab", "ab")
    assert 0 <= answer.candidates.none < 1


def test_a_lone_i_is_written_as_the_language_of_the_text_does():
    english = Lexicon("e", "en", ("see", "you", "ab"), np.array([200, 200, 10], dtype=np.uint8))
    italian = Lexicon("i", "it", ("ecco", "sono", "ab"), np.array([200, 200, 10], dtype=np.uint8))
    board = scripted_keyboard({"ab": 1}, letters="abcdefghijklmnopqrstuvwxyz", probabilities=np.full((2, 27), 1 / 27))
    board = board.replace(lexicon=join_lexicons([english, italian]))
    for text, written in (("see you", "see you I ab"), ("ecco sono", "ecco sono i ab")):
        draft = Draft(board, text)
        draft.tap(" i ")
        draft.swipe(SWIPE, prefix="ab")
        assert draft.text == written
