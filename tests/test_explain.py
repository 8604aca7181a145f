import numpy as np
import pytest
from scripted import SWIPE, doubting
from scripted import scripted_keyboard as keyboard

import glissando
from glissando.explain import Opinion, explain, field
from glissando.ngrams import build_context
from glissando.scoring import Scoring
from glissando.synth import swipe


@pytest.mark.parametrize("weights", [{}, {"location_weight": 3.0, "shape_weight": 2.0}], ids=["plain", "geometric"])
def test_the_explanation_is_of_what_was_decoded(tiny_weights, weights):
    words = {"hello": 5, "held": 4, "world": 3, "help": 2}
    board = glissando.load("qwerty", lexicon=words, weights=tiny_weights, scoring=Scoring(**weights))
    gesture = swipe("hello", board.layout)
    candidates = explain(board, gesture).candidates
    assert candidates == board.decode(gesture, k=9)
    for candidate in candidates:
        meant = explain(board, gesture, candidate.word).meant
        assert (meant.score, meant.log_prob) == pytest.approx((candidate.score, candidate.log_prob), abs=1e-3)


def test_field_at_a_key_gives_its_share_of_the_emissions(tiny_weights):
    """The field is the function whose values at the key centres the encoder's softmax takes (eq. 1 and 2)."""
    board = glissando.load("qwerty", lexicon={"hello": 1}, weights=tiny_weights)
    emissions = board.emissions(swipe("hello", board.layout))
    frame, width = 3, 1000
    grid = np.log(field(emissions.coefficients[0, frame], 1.0, width))
    at = np.minimum((board.layout.centres * width).astype(int), width - 1)
    values = grid[at[:, 1], at[:, 0]]
    letters = emissions.log_probs[0, frame, :-1]
    assert values - values.mean() == pytest.approx(letters - letters.mean(), abs=0.05)


def test_field_of_one_wave():
    """cos(pi x) alone is highest at the left edge and the same in every row."""
    coefficients = np.zeros(64)
    coefficients[8] = 1.0  # u = 1, v = 0
    likelihood = field(coefficients, 0.5, 10)
    assert likelihood.shape == (5, 10)
    assert np.allclose(likelihood, likelihood[0])
    assert np.all(np.diff(likelihood[0]) < 0)
    assert likelihood[0, 0] == 1


def test_verdicts_by_hand():
    board = keyboard({"ab": 10, "a": 10, "Ac": 10})
    explanation = explain(board, SWIPE, "ab")
    assert (explanation.meant.verdict, explanation.meant.rank) == ("first", 1)
    assert [one.letter for one in explanation.letters] == ["a", "b"]
    assert [one.confidence for one in explanation.letters] == pytest.approx([0.6, 0.6], rel=1e-5)
    assert explanation.literal == "ab"
    assert explanation.gate == [0.5, 0.5]
    second = explain(board, SWIPE, "ac").meant
    assert (second.verdict, second.rank) == ("outscored", 3)
    assert second.log_prob == pytest.approx(np.log(0.06), rel=1e-4)
    assert [one.cost for one in second.costs] == pytest.approx([-np.log(0.6), -np.log(0.1)], rel=1e-4)
    assert ([one.letter for one in second.best_costs], second.worst) == (["a", "b"], 1)
    absent = explain(board, SWIPE, "ba").meant
    assert (absent.verdict, absent.rank) == ("out of lexicon", None)
    assert absent.would_rank == 4
    assert explain(board, SWIPE, "xyz").meant.verdict == "not typeable"
    assert explain(board, SWIPE, "abc").meant.verdict == "not typeable"  # three letters, two frames


def test_a_narrow_beam_prunes():
    board = keyboard({"ab": 10, "cb": 10}, width=1)
    meant = explain(board, SWIPE, "cb").meant
    assert (meant.verdict, meant.rank, meant.would_rank) == ("pruned", None, 2)


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("we ab\nwe ab\nyou cb\n")
    return build_context([path], {"language": "en"}, 10_000)


def test_what_the_matcher_and_the_text_before_say(context):
    board = doubting({"ab": 10, "cb": 10}).replace(context=context)
    explanation = explain(board, SWIPE, "ab", "we")
    candidates = board.decode(SWIPE, context="we")
    assert explanation.candidates == candidates
    assert explanation.asked
    meant, other = explanation.meant.opinion, explain(board, SWIPE, "cb", "we").meant.opinion
    assert explanation.best == (meant if candidates[0].word == "ab" else other)
    width = board.layout.key_size[0]
    assert other.match - meant.match == pytest.approx(2 / 3 / width, rel=1e-4)
    assert (meant.match_points, other.match_points) == (meant.match, other.match)  # its weight is 1
    gains = board.context.after("we").gains(board.context.number(["ab", "cb"]))
    assert [meant.gain, other.gain] == pytest.approx(gains.tolist())
    assert meant.gain_points == pytest.approx(board.scoring.matched.context_weight * gains[0])
    assert gains[0] > 0 == other.gain
    alone = {one.word: one.score for one in board.decode(SWIPE)}
    assert explanation.meant.score == pytest.approx(alone["ab"] + meant.gain_points)


def test_where_nobody_was_asked(context):
    board = doubting({"ab": 10, "cb": 10}, doubt=0.0)
    explanation = explain(board, SWIPE, "cb", "we")  # a text, but no context to read it with
    assert not explanation.asked
    assert explanation.best == explanation.meant.opinion == Opinion(None, 0.0, None, 0.0)
    assert explain(board.replace(context=context), SWIPE).best.gain is None
    assert explain(board, SWIPE, "xyz").meant.opinion is None


def test_a_pruned_word_is_compared_as_if_the_beam_had_kept_it():
    words = {"ab": 10, "cb": 10, "a": 10, "b": 10}
    narrow = doubting(words, width=3)
    assert [one.word for one in narrow.decode(SWIPE)] == ["b", "ab", "a"]
    meant, expected = (explain(board, SWIPE, "cb").meant for board in (narrow, doubting(words)))
    assert (meant.verdict, meant.rank, meant.would_rank) == ("pruned", None, expected.rank)
    assert meant.score == pytest.approx(expected.score, abs=1e-4)
    assert meant.opinion.match == pytest.approx(expected.opinion.match)


def test_a_word_that_the_lexicon_lacks_is_scored_as_if_it_were_added():
    board = doubting({"ab": 10, "cb": 10})
    meant = explain(board, SWIPE, "ca").meant
    assert (meant.verdict, meant.rank) == ("out of lexicon", None)
    longer = board.replace(lexicon=board.lexicon.with_words(["ca"]))
    ranked = {one.word: (place, one.score) for place, one in enumerate(longer.decode(SWIPE), 1)}
    assert (meant.would_rank, meant.score) == pytest.approx(ranked["ca"], rel=1e-6)


def test_an_encoder_without_cosine_basis_has_no_field(monkeypatch):
    board = keyboard({"ab": 10})
    monkeypatch.setattr(board.encoder, "weights", type("W", (), {"card": {"config": {"basis": "grid"}}}))
    assert explain(board, SWIPE).letters[0].field is None


def test_none_is_what_the_candidates_leave():
    board = keyboard({"ab": 10, "a": 10}, scoring=Scoring(none_bonus=0.0, none_share=0.5))
    explanation = explain(board, SWIPE)
    assert explanation.none == pytest.approx(1 - sum(one.probability for one in explanation.candidates))
    assert explanation.none > 0.01


def test_tapped_letters_narrow_what_is_explained():
    board = keyboard({"ab": 10, "a": 10, "Ac": 10, "b": 10})
    explanation = explain(board, SWIPE, "ac", tapped=("a", "c"))
    assert [one.word for one in explanation.candidates] == ["Ac"]
    assert (explanation.meant.verdict, explanation.meant.rank) == ("first", 1)
    for word in ("b", "a"):  # one begins otherwise, the other ends otherwise
        meant = explain(board, SWIPE, word, tapped=("a", "b")).meant
        assert (meant.verdict, meant.rank, meant.score) == ("pruned", None, None)
        assert meant.log_prob is not None


def test_no_letter_is_blamed_that_cost_nothing_to_speak_of():
    sure = [[0.97, 0.01, 0.01, 0.01], [0.01, 0.96, 0.01, 0.02]]
    board = keyboard({"ab": 10, "ac": 10}, sure)
    meant = explain(board, SWIPE, "ab").meant
    assert max(one.cost for one in meant.costs) == pytest.approx(-np.log(0.96), rel=1e-4)
    assert meant.worst is None
    assert explain(board, SWIPE, "ac").meant.worst == 1


def test_an_own_word_that_the_beam_gave_up_is_pruned():
    """A word that is listed must not be called unknown, however narrow the beam is."""
    board = keyboard({"ab": 10}, width=1)
    for word in ("cb", "Ac"):
        board.vocabulary.learn(word)
    assert [one.word for one in board.decode(SWIPE, 9)] == ["ab"]
    meant = explain(board, SWIPE, "CB").meant
    assert (meant.verdict, meant.rank, meant.would_rank) == ("pruned", None, 2)
    assert meant.frequency == round(board.vocabulary.bytes()[0])
    assert meant.score == pytest.approx(np.log(0.06), rel=1e-4)
    tapped = explain(board, SWIPE, "cb", tapped=("a", "")).meant
    assert (tapped.verdict, tapped.score) == ("pruned", None)
