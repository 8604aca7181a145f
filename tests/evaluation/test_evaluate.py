"""Evaluation as a library: which swipes, which words, which constants, counted how."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command import lines, row

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import swipe_from_dict
from glissando.errors import CorpusError, LexiconError
from glissando.evaluation.evaluate import (
    CHUNK,
    EvaluationOptions,
    decode_swipes,
    evaluate,
    keyboard_for,
    on_scale,
    read_targets,
    with_aspect,
    words_for,
)
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.scoring import Scoring, load_scoring
from glissando.vocabulary import Vocabulary

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
    assert set(json.loads(json.dumps(result.to_dict()))) == {"overall", "by_layout", "known", "unknown"}
    assert (result.known.n, result.known.top1, result.unknown.n, result.unknown.top1) == (3, 100, 1, 0)


def test_chunks_leave_nothing_out():
    swipes = [swipe_from_dict(row(word)) for word in ("hello", "world", "water")]
    many = (swipes * (CHUNK // 3 + 2))[: CHUNK + 1]
    board, known = keyboard_for(load_layout("qwerty"), [], SHARK2)
    calls = []
    outcomes = decode_swipes((board, known), many, replace(SHARK2, beam=10), calls.append)
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


def test_all_known_words_need_no_rows_of_their_own(tmp_path):
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines([row("hello")]))
    result = evaluate([path], SHARK2)
    assert result.unknown is None
    assert set(result.to_dict()) == {"overall", "by_layout"}


def test_a_list_takes_the_place_of_its_own_language():
    """vi and ms have short lists."""
    layout = load_layout("qwerty")
    mine = Lexicon.from_counts({"taigang": 9, "hello": 1}, name="mine")

    def languages(lexicon, language):
        found = words_for(layout, EvaluationOptions(lexicon=lexicon, language=language))
        return found.languages, "taigang" in found.words

    assert languages(None, "vi, ms") == (("vi", "ms"), False)
    assert languages(mine, "vi,ms") == (("vi", "ms"), True)  # it states none, so it is the first
    assert languages(replace(mine, language="ms", languages=("ms",)), "vi,ms") == (("vi", "ms"), True)
    assert languages(mine, "vi") == (("",), True)
    with pytest.raises(LexiconError, match="lexicon mine is of language 'ru', not of vi, ms"):
        languages(replace(mine, language="ru", languages=("ru",)), "vi,ms")
    joined = words_for(layout, EvaluationOptions(language="vi,ms"))
    assert languages(joined, "vi,ms") == (("vi", "ms"), False)


def test_lists_that_count_differently_are_brought_to_one_scale():
    words = tuple(f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(60))
    ours = Lexicon("ours", "en", words, np.arange(60, 240, 3).astype(np.uint8))
    theirs = Lexicon("theirs", "en", words, (20 + 0.5 * ours.frequencies).astype(np.uint8))
    other = Lexicon("other", "de", ("habe", "haus", "selten"), np.array([200, 100, 1], dtype=np.uint8))
    assert on_scale(other, ours, theirs).frequencies.tolist() == pytest.approx([120, 70, 20], abs=1)
    strangers = replace(theirs, words=tuple(f"{word}x" for word in words))
    assert on_scale(other, ours, strangers) is other  # no word is shared
    assert on_scale(other, ours, replace(theirs, frequencies=theirs.frequencies[::-1])) is other  # nor is the order


OPEN = {"fluency_weight": 0.3, "literal_bonus": 6.0, "none_bonus": -1.0, "none_share": 0.4, "temperature": 1.0}


def test_literals_are_answers_unless_targets_are_added(tmp_path):
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines([row("hello"), row("zebra")]))
    options = EvaluationOptions(lexicon=WORDS, scoring=OPEN)
    _, unknown = evaluate([path], options).outcomes["qwerty"]
    assert "zebra" in unknown.ranking
    assert not unknown.known
    closed = evaluate([path], replace(options, add_targets=True)).outcomes["qwerty"]
    assert all(set(one.ranking) <= {"hello", "world", "its", "water", "zebra"} for one in closed)
    assert closed[1].rank == 1


def test_the_first_letters_are_given(tmp_path):
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines([row("water") | {"word": "world"}]))  # it follows another word's keys
    options = EvaluationOptions(lexicon=WORDS, scoring=Scoring())
    assert evaluate([path], options).outcomes["qwerty"][0].rank > 1
    (outcome,) = evaluate([path], replace(options, letters=2)).outcomes["qwerty"]
    assert outcome.ranking == ("world",)
    assert evaluate([path], replace(options, letters=48)).overall.top1 == 100


def test_own_words_come_from_a_file(tmp_path):
    own = Vocabulary()
    own.learn("zebra", 10)
    own.save(tmp_path / "own.json")
    path = tmp_path / "swipes.jsonl"
    path.write_bytes(lines([row("zebra")]))
    options = EvaluationOptions(lexicon=WORDS, scoring=Scoring())
    assert evaluate([path], options).overall.top1 == 0
    result = evaluate([path], replace(options, vocabulary=tmp_path / "own.json"))
    assert (result.overall.top1, result.unknown.n) == (100, 1)  # the list lacks it


def test_contradictions_are_refused():
    for options, message in (
        ({"method": "shark2", "learn": True}, "shark2 has no learn"),
        ({"method": "shark2", "adapt": True}, "shark2 has no adapt"),
        ({"method": "shark2", "vocabulary": "own.json"}, "shark2 has no vocabulary"),
        ({"method": "shark2", "letters": 2}, "shark2 has no letters"),
        ({"context": "decoded", "revise": True, "learn": True}, "cannot be learned in between"),
        ({"context": "decoded", "revise": True, "adapt": True}, "cannot be learned in between"),
        ({"letters": -1}, "number from 0, got -1"),
    ):
        with pytest.raises(CorpusError, match=message):
            EvaluationOptions(**options)
