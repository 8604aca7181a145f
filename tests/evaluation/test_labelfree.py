from dataclasses import replace

import pytest

from glissando.errors import GlissandoError, LexiconError, ScoringError
from glissando.evaluation import labelfree
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.labelfree import (
    Draws,
    made_up_weight,
    make_up_swipes,
    reference_weight,
    tune_label_free,
    word_usage,
)
from glissando.lexicon import Lexicon
from glissando.scoring import Scoring, load_scoring

DRAWS = Draws(swipes=300, noise=3.0)  # so much noise that the frequency has a say


@pytest.fixture(scope="module")
def board(keyboard):
    """The keyboard of ten words with a beam that holds all of them."""
    return keyboard.replace(scoring=Scoring(0.0, 0.02, 0.0), width=20)


def test_words_are_drawn_as_often_as_they_are_used(board):
    made = make_up_swipes(board, {"bad": 3.0, "face": 1.0, "a": 1000.0, "xyz": 1000.0}, Draws(swipes=800))
    assert set(made.targets) == {"bad", "face"}  # a is a tap, xyz has no key
    assert made.targets.count("bad") == pytest.approx(600, abs=50)
    assert make_up_swipes(board, {"bad": 3.0, "face": 1.0}, Draws(swipes=800)).targets == made.targets
    with pytest.raises(LexiconError, match="no word of two letters or more can be typed on layout 'tiny'"):
        make_up_swipes(board, {"xyz": 1.0}, DRAWS)


def test_a_word_that_the_list_lacks_is_a_rare_one_of_it(board):
    made = make_up_swipes(board, {"decaf": 1.0}, Draws(swipes=3))
    assert made.keyboard.lexicon.words == (*board.lexicon.words, "decaf")
    assert "decaf" not in board.lexicon.words


def test_halved_bytes_want_twice_the_weight(board):
    usage = word_usage(board.lexicon)
    halved = replace(board.lexicon, frequencies=board.lexicon.frequencies // 2)
    whole = made_up_weight(board, usage, DRAWS)
    assert made_up_weight(board.replace(lexicon=halved), usage, DRAWS) == pytest.approx(2 * whole, rel=0.01)


def test_usage_is_wordfreqs_where_it_knows_the_language_and_zipfs_elsewhere():
    english = word_usage(Lexicon.from_counts({"qqzx": 1.0}), "en")
    assert english["the"] > english["word"] > 0
    assert "qqzx" not in english
    own = word_usage(Lexicon.from_counts({"seldom": 1.0, "often": 100.0}), "tok")
    assert own == {"often": pytest.approx(1 / 3.7), "seldom": pytest.approx(1 / 4.7)}


@pytest.mark.parametrize("data", [{}, [], {"label_free": 3}, {"label_free": {"frequency_weight": -1}}])
def test_constants_without_a_reference_are_refused(data):
    with pytest.raises(ScoringError, match=r"mine.json has no label_free"):
        reference_weight(data, "mine.json")
    assert reference_weight({"label_free": {"frequency_weight": 2}}, "mine.json") == 2.0


def test_a_tuning_moves_the_weight_by_the_ratio_and_can_be_begun_with(tmp_path, board):
    began = tmp_path / "began.json"
    began.write_text('{"scoring": {"frequency_weight": 0.02}, "label_free": {"frequency_weight": 0.05}}')
    options = EvaluationOptions(lexicon=board.lexicon, scoring=began)
    result = tune_label_free(board.layout, options, DRAWS, "glissando tune")
    tuned = load_scoring(result)
    assert tuned.frequency_weight == pytest.approx(0.02 * result["label_free"]["frequency_weight"] / 0.05)
    assert replace(tuned, frequency_weight=0.02) == replace(Scoring(), frequency_weight=0.02)
    assert result["provenance"]["draws"]["swipes"] == 300
    with pytest.raises(GlissandoError, match="only the encoder's"):
        tune_label_free(board.layout, replace(options, method="shark2", scoring="auto"), DRAWS)


def test_a_list_that_tells_nothing_is_refused(tmp_path, board, monkeypatch):
    monkeypatch.setattr(labelfree, "made_up_weight", lambda *_: -0.01)
    began = tmp_path / "began.json"
    began.write_text('{"scoring": {}, "label_free": {"frequency_weight": 0.05}}')
    options = EvaluationOptions(lexicon=board.lexicon, scoring=began)
    with pytest.raises(ScoringError, match="frequencies of lexicon tiny do not agree"):
        tune_label_free(board.layout, options, DRAWS)
