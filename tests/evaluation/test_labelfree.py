from dataclasses import replace

import numpy as np
import pytest

from glissando.errors import GlissandoError, LexiconError, ScoringError
from glissando.evaluation import labelfree
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.fit import fit_frequency_weight
from glissando.evaluation.labelfree import (
    Draws,
    made_up_weight,
    make_up_swipes,
    reference_weight,
    tune_label_free,
    word_usage,
)
from glissando.keyboard import Keyboard
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon
from glissando.runtime import EncoderRuntime
from glissando.scoring import Scoring, load_scoring
from glissando.weights import load_weights

WORDS = ("ab", "abc", "bad", "cab", "dab", "fed", "bead", "deaf", "face", "fade")
LAYOUT = Layout.from_rows("tiny", ["abc", "def"])
DRAWS = Draws(swipes=300)


@pytest.fixture(scope="module")
def keyboard(tiny_weights):
    lexicon = Lexicon("tiny", "", WORDS, np.arange(20, 20 + 20 * len(WORDS), 20).astype(np.uint8))
    scoring = Scoring(0.0, 0.02, 0.0)
    return Keyboard(LAYOUT, lexicon, EncoderRuntime(load_weights(tiny_weights)), scoring, 20)


def with_list(keyboard, lexicon):
    return Keyboard(keyboard.layout, lexicon, keyboard.encoder, keyboard.scoring, keyboard.width)


def test_words_are_drawn_as_often_as_they_are_used(keyboard):
    made = make_up_swipes(keyboard, {"bad": 3.0, "face": 1.0, "a": 1000.0, "xyz": 1000.0}, Draws(swipes=800))
    assert set(made.targets) == {"bad", "face"}  # a is a tap, xyz has no key
    assert made.targets.count("bad") == pytest.approx(600, abs=50)
    again = make_up_swipes(keyboard, {"bad": 3.0, "face": 1.0}, Draws(swipes=800))
    assert again.targets == made.targets


def test_a_word_that_the_list_lacks_is_a_rare_one_of_it(keyboard):
    made = make_up_swipes(keyboard, {"decaf": 1.0}, Draws(swipes=3))
    assert made.keyboard.lexicon.words == (*WORDS, "decaf")
    assert "decaf" not in keyboard.lexicon.words


def test_halved_bytes_want_twice_the_weight(keyboard):
    usage = word_usage(keyboard.lexicon)
    halved = replace(keyboard.lexicon, frequencies=keyboard.lexicon.frequencies // 2)
    whole = made_up_weight(keyboard, usage, DRAWS)
    assert made_up_weight(with_list(keyboard, halved), usage, DRAWS) == pytest.approx(2 * whole, rel=0.01)


def test_frequencies_that_tell_nothing_get_less_weight(keyboard):
    usage = word_usage(keyboard.lexicon)
    shuffled = np.random.default_rng(1).permutation(keyboard.lexicon.frequencies)
    wrong = with_list(keyboard, replace(keyboard.lexicon, frequencies=shuffled))
    assert made_up_weight(wrong, usage, DRAWS) < 0.7 * made_up_weight(keyboard, usage, DRAWS)


def test_the_scale_of_the_evidence_is_not_taken_for_the_frequency(keyboard):
    beams = make_up_swipes(keyboard, word_usage(keyboard.lexicon), DRAWS).beams(keyboard.scoring)
    sharper = replace(beams, log_probs=3 * beams.log_probs)
    weight = fit_frequency_weight(beams, keyboard.scoring)
    assert fit_frequency_weight(sharper, keyboard.scoring) == pytest.approx(3 * weight, rel=0.02)


def test_usage_is_wordfreqs_where_it_knows_the_language_and_zipfs_elsewhere():
    english = word_usage(Lexicon.from_counts({"qqzx": 1.0}), "en")
    assert english["the"] > english["word"] > 0
    assert "qqzx" not in english
    own = word_usage(Lexicon.from_counts({"seldom": 1.0, "often": 100.0}), "tok")
    assert own == {"often": pytest.approx(1 / 3.7), "seldom": pytest.approx(1 / 4.7)}


def test_a_layout_that_types_no_word_is_one_line(keyboard):
    with pytest.raises(LexiconError, match="no word of two letters or more can be typed on layout 'tiny'"):
        make_up_swipes(keyboard, {"xyz": 1.0}, DRAWS)


@pytest.mark.parametrize("data", [{}, [], {"label_free": 3}, {"label_free": {"frequency_weight": -1}}])
def test_constants_without_a_reference_are_refused(data):
    with pytest.raises(ScoringError, match=r"mine.json does not say"):
        reference_weight(data, "mine.json")
    assert reference_weight({"label_free": {"frequency_weight": 2}}, "mine.json") == 2.0


def test_a_tuning_moves_the_weight_by_the_ratio_and_can_be_begun_with(tmp_path, keyboard, tiny_weights):
    began = tmp_path / "began.json"
    began.write_text('{"scoring": {"frequency_weight": 0.02}, "label_free": {"frequency_weight": 0.05}}')
    options = EvaluationOptions(lexicon=keyboard.lexicon, scoring=began, weights=tiny_weights)
    result = tune_label_free(LAYOUT, options, DRAWS, "glissando tune")
    tuned = load_scoring(result)
    assert tuned.frequency_weight == pytest.approx(0.02 * result["label_free"]["frequency_weight"] / 0.05)
    assert replace(tuned, frequency_weight=0.02) == replace(Scoring(), frequency_weight=0.02)
    assert result["provenance"]["draws"]["swipes"] == 300
    with pytest.raises(GlissandoError, match="only the encoder's"):
        tune_label_free(LAYOUT, replace(options, method="shark2", scoring="auto"), DRAWS)


def test_a_list_twice_as_wide_comes_out_with_half_the_weight_on_the_packaged_encoder():
    """End to end on a real layout: what matters of a list is its spread."""
    lexicon = Lexicon.from_language("en")
    keyboard = Keyboard(load_layout("qwerty"), lexicon, EncoderRuntime(load_weights("encoder")), load_scoring("en"))
    usage = word_usage(lexicon, "en")
    flat = replace(keyboard.scoring, frequency_floor=0.0)
    keyboard.scoring = flat
    plain = made_up_weight(keyboard, usage, DRAWS)
    wider = with_list(keyboard, replace(lexicon, frequencies=(lexicon.frequencies // 2).astype(np.uint8)))
    assert made_up_weight(wider, usage, DRAWS) == pytest.approx(2 * plain, rel=0.1)
    assert plain > 0


def test_a_list_that_tells_nothing_is_refused(tmp_path, keyboard, tiny_weights, monkeypatch):
    monkeypatch.setattr(labelfree, "made_up_weight", lambda *_: -0.01)
    began = tmp_path / "began.json"
    began.write_text('{"scoring": {}, "label_free": {"frequency_weight": 0.05}}')
    options = EvaluationOptions(lexicon=keyboard.lexicon, scoring=began, weights=tiny_weights)
    with pytest.raises(ScoringError, match="frequencies of lexicon tiny tell nothing"):
        tune_label_free(LAYOUT, options, DRAWS)
