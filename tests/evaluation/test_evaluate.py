"""Evaluation as a library: which swipes, which words, which constants, counted how."""

import json
from dataclasses import replace

import pytest
from command import lines, row

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import swipe_from_dict
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import (
    CHUNK,
    EvaluationOptions,
    decode_swipes,
    evaluate,
    keyboard_for,
    read_targets,
    with_aspect,
)
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.scoring import Scoring, load_scoring

WORDS = {"hello": 100, "world": 90, "its": 80, "it's": 70, "water": 60}
SHARK2 = EvaluationOptions(method="shark2", lexicon=WORDS)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines([row("hello"), row("water", "dvorak"), row("zebra"), row("world")]))
    return path


def test_outcomes_come_in_the_order_read(file):
    calls = []
    result = evaluate([file], SHARK2, lambda done, total: calls.append((done, total)))
    assert calls == [(3, 4), (4, 4)]
    assert [one.target for one in result.outcomes["qwerty"]] == ["hello", "zebra", "world"]
    assert [one.known for one in result.outcomes["qwerty"]] == [True, False, True]
    assert [one.rank for one in result.outcomes["qwerty"]] == [1, 0, 1]
    assert result.overall.n == 4
    assert result.overall.top1 == 75
    assert set(json.loads(json.dumps(result.to_dict()))) == {"overall", "by_layout"}


def test_chunks_leave_nothing_out():
    swipes = [swipe_from_dict(row(word)) for word in ("hello", "world", "water")]
    many = (swipes * (CHUNK // 3 + 2))[: CHUNK + 1]
    board, known = keyboard_for(load_layout("qwerty"), [], SHARK2)
    calls = []
    outcomes = decode_swipes(board, many, known, replace(SHARK2, beam=10), calls.append)
    assert [one.target for one in outcomes] == [swipe.word for swipe in many]
    assert all(one.rank == 1 for one in outcomes)
    assert calls == [CHUNK, CHUNK + 1]


def test_one_path_is_one_answer(tmp_path):
    """its and it's are typed alike: whichever comes first, both are right, and neither takes a second place."""
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines([row("its"), row("it's")]))
    result = evaluate([path], SHARK2)
    assert result.overall.top1 == 100
    assert all(len(set(one.ranking)) == len(one.ranking) for one in result.outcomes["qwerty"])


def test_only_targets_with_a_new_spelling_are_added():
    board, known = keyboard_for(load_layout("qwerty"), ["Hello", "zebra"], replace(SHARK2, add_targets=True))
    assert set(board.lexicon.words) == {*WORDS, "zebra"}
    assert "zebra" not in known
    assert {"hello", "its"} <= known
    assert "zebra" not in keyboard_for(load_layout("qwerty"), ["zebra"], SHARK2)[0].lexicon.words


def test_the_language_of_the_list_chooses_the_constants(tmp_path):
    english, other = tmp_path / "en.combined", tmp_path / "xx.combined"
    english.write_text("dictionary=main:en,locale=en_US,version=1\n word=hello,f=100\n")
    other.write_text("dictionary=main:xx,locale=xx,version=1\n word=hello,f=100\n")
    options = EvaluationOptions()
    layout = load_layout("qwerty")

    def scoring(**changes):
        return keyboard_for(layout, [], replace(options, **changes))[0].scoring

    assert scoring(lexicon=english) == load_scoring("en")
    assert scoring(lexicon=other) == load_scoring("general")
    assert scoring(lexicon=other, language="en") == load_scoring("en")
    assert scoring(lexicon=other, scoring="en") == load_scoring("en")
    assert scoring(lexicon=english, scoring={"length_bonus": 7.0}) == Scoring(length_bonus=7.0)
    (tmp_path / "mine.json").write_text('{"scoring": {"length_bonus": 8.0}}')
    assert scoring(lexicon=english, scoring=tmp_path / "mine.json") == Scoring(length_bonus=8.0)


def test_the_list_is_the_one_given_else_of_the_language_else_of_the_layout():
    layout = replace(load_layout("qwerty"), language="vi")  # wordfreq's shortest list

    def name(**changes):
        return keyboard_for(layout, [], replace(EvaluationOptions(method="shark2"), **changes))[0].lexicon.name

    mine = Lexicon.from_counts({"hello": 1}, name="mine")
    assert name(lexicon=mine, language="da") == "mine"
    assert name() == "wordfreq vi"
    assert name(language="da") == "wordfreq da"


def test_the_encoder_ranks_every_spelling_of_the_beam(tmp_path):
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines([row("its")]))
    result = evaluate([path], EvaluationOptions(lexicon=WORDS))
    (outcome,) = result.outcomes["qwerty"]
    assert set(outcome.ranking) == {"hello", "world", "its", "water"}
    assert result.overall.recall == 100
    assert outcome.greedy is not None


def test_canvases_give_the_layout_its_aspect():
    layout = load_layout("qwerty")
    known = [swipe_from_dict(row("its", canvas_width=200, canvas_height=h)) for h in (80, 100, 160)]
    assert with_aspect(layout, known).aspect == 0.5
    assert with_aspect(layout, [swipe_from_dict(row("its"))]) is layout


def test_stored_distances_are_believed_and_others_measured(tmp_path):
    path = tmp_path / "swipes.jsonl"
    stray = row("hello") | {"word": "world"}
    path.write_bytes(lines([row("hello"), stray, stray | {"key_dist_max": 1.9}, row("its", key_dist_max=2.1)]))
    kept = list(read_targets(path, LayoutShelf(), replace(SHARK2, max_key_distance=2.0)))
    assert [(swipe.word, swipe.key_distance) for swipe in kept] == [("hello", None), ("world", 1.9)]


def test_nothing_to_evaluate_is_an_error(tmp_path):
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines([row("hello", key_dist_max=9)]))
    with pytest.raises(CorpusError, match="every swipe was filtered out"):
        evaluate([path], replace(SHARK2, max_key_distance=2.0))
