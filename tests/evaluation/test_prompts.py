"""Swipes in their prompts: places, the people who were given them, and what was written before."""

from dataclasses import replace

import numpy as np
import pytest
from command import lines, row
from scripted import SWIPE, scripted_keyboard

from glissando.corpus.records import swipe_from_dict
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import EvaluationOptions, evaluate
from glissando.evaluation.prompts import Writing, places, prompt_texts
from glissando.lexicon import Lexicon, join_lexicons
from glissando.ngrams import build_context
from glissando.scoring import Scoring


def swipes(*pairs, session="p"):
    return [swipe_from_dict(row(word, sentence=sentence, session=session)) for word, sentence in pairs]


def test_words_are_found_in_the_order_of_the_prompt():
    prompt = "The cat, the dog and I"
    rows = swipes(
        ("the", prompt), ("the", prompt), ("dog", prompt), ("bird", prompt), ("cat", "cat dog"), ("cat", None)
    )
    assert places(rows) == [0, 2, 3, None, 0, None]
    assert prompt_texts(rows) == ["", "The cat,", "The cat, the", None, "", None]


def test_a_prompt_that_is_given_again_begins_again():
    rows = swipes(("the", "the cat"), ("cat", "the cat"), ("the", "the cat"))
    assert places(rows) == [0, 1, 0]
    others = swipes(("the", "the cat"), session="q")
    assert places([rows[1], *others]) == [1, 0]


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("b ac c\nab a\n" * 5)
    board = scripted_keyboard({"ab": 10, "ac": 10, "a": 10, "c": 10, "b": 10})
    return board.replace(context=build_context([path], {}, 10_000), scoring=replace(board.scoring, context_weight=2.0))


def written(board, rows, mode, revise=False):
    """The best word of every row, in the order in which rows were ranked."""
    writing = Writing(board, rows, mode, revise, 10)
    finalists = board.finalists(SWIPE)
    return [(at, ranked[0].word) for _ in rows for at, ranked in writing.rank(finalists)]


def test_what_stands_before(board):
    """The swipe reads "ab"; after b the context says "ac"."""
    rows = swipes(("ac", "x b ac b"), ("b", "x b ac b"))
    assert written(board, rows, "none") == [(0, "ab"), (1, "ab")]
    assert written(board, rows, "prompt")[0] == (0, "ac")
    assert written(board, rows, "decoded")[0] == (0, "ac")  # b has no swipe, so it was tapped
    rows = swipes(("b", "x b ac"), ("ac", "x b ac"))
    assert written(board, rows, "prompt")[1] == (1, "ac")
    assert written(board, rows, "decoded")[1] != (1, "ac")  # what was decoded before it is not b
    assert written(board, swipes(("ac", None)), "decoded") == [(0, "ab")]


def test_a_revision_comes_with_the_next_word_of_the_prompt(board):
    rows = swipes(("b", "b ac c"), ("ac", "b ac c"), ("ab", "ab a"))
    assert [at for at, _ in written(board, rows, "decoded", revise=True)] == [0, 0, 1, 2]
    rows = swipes(("b", "b ac c"), ("c", "b ac c"))
    assert [at for at, _ in written(board, rows, "decoded", revise=True)] == [0, 1]  # a word lies between


def test_sentences_and_random_words_are_counted_apart(tmp_path):
    rows = [
        row("hello", sentence="hello world", session="p"), row("world", sentence="hello world", session="q"),
        row("water", sentence="water tiger", session="p"), row("hello"),
    ]  # fmt: skip
    (tmp_path / "swipes.jsonl").write_bytes(lines(rows))
    options = EvaluationOptions(method="shark2", lexicon={"hello": 9, "world": 8, "water": 7})
    result = evaluate([tmp_path / "swipes.jsonl"], options).to_dict()
    assert (result["overall"]["n"], result["sentences"]["n"], result["words"]["n"]) == (4, 2, 1)


def test_options_that_make_no_sense_are_refused():
    for options, message in (
        ({"context": "all"}, "no context 'all' to evaluate with; there are none, prompt, decoded"),
        ({"revise": True}, "choose context prompt or decoded"),
        ({"context": "prompt", "method": "shark2"}, "shark2 decodes words alone"),
    ):
        with pytest.raises(CorpusError, match=message):
            EvaluationOptions(**options)


def test_rows_come_out_as_often_as_they_went_in(board):
    rng = np.random.default_rng(0)
    rows = swipes(*[(["a", "ab", "ac"][rng.integers(3)], "a ab ac ab a") for _ in range(30)])
    for mode, revise in (("none", False), ("prompt", False), ("decoded", True)):
        assert {at for at, _ in written(board, rows, mode, revise)} == set(range(30))


def test_several_languages_follow_the_persons_last_words_without_a_context(tmp_path):
    """ "ab" is of one language and "ac" of the other; after enough words of the other, "ac" is read."""
    lexicon = join_lexicons([Lexicon("one", "en", ("ab", "b"), np.array([200, 200], np.uint8)),
                             Lexicon("two", "de", ("ac", "c"), np.array([200, 200], np.uint8))])  # fmt: skip
    frames = [[0.9, 0.03, 0.03, 0.04], [0.03, 0.47, 0.46, 0.04]]
    board = scripted_keyboard({"ab": 1}, frames, scoring=Scoring(frequency_weight=0.1)).replace(lexicon=lexicon)
    both = board.finalists(SWIPE)
    other = board.finalists(SWIPE, prefix="ac")
    rows = swipes(*[("ac", None)] * 4) + swipes(("ac", None), session="q")
    writing = Writing(board, rows, "none", False, 10)
    best = [ranked[0].word for found in (both, other, other, both, both) for _, ranked in writing.rank(found)]
    assert best == ["ab", "ac", "ac", "ac", "ab"]  # the last is another person, whose text begins
