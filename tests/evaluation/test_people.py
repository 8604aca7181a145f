"""People who teach their keyboards: each word is judged before it is learned, and no one learns from another."""

from dataclasses import replace

import pytest
from command import lines, row
from scripted import SCORING, SWIPE, scripted_keyboard

from glissando.corpus.records import Swipe
from glissando.evaluation.evaluate import EvaluationOptions, evaluate
from glissando.evaluation.people import People, finalists
from glissando.habits import EVERY
from glissando.scoring import Scoring
from glissando.vocabulary import Vocabulary


def ranks(tmp_path, rows, **changes):
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines(rows))
    options = EvaluationOptions(lexicon={"hello": 100, "world": 90, "water": 60}, scoring=Scoring(), **changes)
    return [one.rank for one in evaluate([path], options).outcomes["qwerty"]]


def test_a_word_is_judged_before_it_is_learned_and_only_by_its_person(tmp_path):
    rows = [row("zebra", session=session) for session in ("p", "q", "p", "q")]
    assert ranks(tmp_path, rows) == [0, 0, 0, 0]
    assert ranks(tmp_path, rows, learn=True) == [0, 0, 1, 1]
    assert ranks(tmp_path, [row("zebra"), row("zebra")], learn=True) == [0, 1]  # without sessions, one person


def test_everybody_begins_with_the_words_of_the_file(tmp_path):
    own = Vocabulary()
    own.learn("zebra", 10)
    own.save(tmp_path / "own.json")
    rows = [row("zebra", session="p"), row("quick", session="p"), row("quick", session="q")]
    assert ranks(tmp_path, rows, learn=True, vocabulary=tmp_path / "own.json") == [1, 0, 0]
    assert Vocabulary.load(tmp_path / "own.json").words == ("zebra",)  # the file stays as it is


@pytest.fixture
def board():
    """It finds three words for every swipe."""
    return scripted_keyboard({"ab": 10, "ac": 50, "b": 90}, scoring=replace(SCORING, frequency_weight=0.05))


def swipes(word, *sessions):
    return [Swipe(word, SWIPE, "test", session=session) for session in sessions]


def taught(board, rows, **what):
    """People after each taught the first swipe often enough for a fit, and the readings."""
    people, readings = People(board, **what), board.read([one.gesture for one in rows])
    for _ in range(EVERY):
        people.teach(rows[0], readings, 0)
    return people, readings


def test_habits_follow_each_person(board):
    rows = swipes("ab", "p", "q")
    people, readings = taught(board, rows, learn=False, adapt=True)
    first, second = (people.finalists(one, readings, at) for at, one in enumerate(rows))
    assert first.constants.frequency_weight < board.scoring.frequency_weight  # the rarest of the three was meant
    assert second.constants is board.scoring
    assert (second.scores == finalists(board, rows[1], readings, 1).scores).all()
    assert not len(board.habits)
    assert not len(people.board.vocabulary)  # to adapt is not to learn words


def test_what_is_learned_is_what_accepting_teaches(board):
    rows = swipes("ab", "p")
    people, readings = taught(board, rows, learn=False, adapt=True)
    for _ in range(EVERY):
        board.accept(SWIPE, "ab")
    assert people.finalists(rows[0], readings, 0).constants == board.constants


def test_a_word_that_is_not_found_teaches_no_habit(board):
    rows = swipes("cc", "p")
    people, readings = taught(board, rows, learn=False, adapt=True)
    assert people.finalists(rows[0], readings, 0).constants is board.scoring


def test_people_who_only_learn_words_keep_the_constants(board):
    rows = swipes("ab", "p")
    people, readings = taught(board, rows, learn=True, adapt=False)
    found = people.finalists(rows[0], readings, 0)
    assert found.constants is board.scoring
    assert sorted(found.frequencies.tolist()) == pytest.approx([50, 90, 120])  # ten uses of "ab"
