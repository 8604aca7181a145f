from dataclasses import replace

import numpy as np
import pytest

import glissando
from glissando.beam import Hypotheses
from glissando.errors import GestureError, WeightsError
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard, choose_decoder, match_keys
from glissando.layout import Key, Layout, load_layout
from glissando.lexicon import Lexicon
from glissando.runtime import DecoderRuntime, Emissions, EncoderRuntime
from glissando.scoring import Scoring, score_words, softmax
from glissando.weights import Weights, load_weights

SCORING = Scoring(length_exponent=0.0, frequency_weight=0.0, length_bonus=0.0)
SWIPE = Gesture([0.1, 0.5, 0.9], [0.5, 0.5, 0.5], [0, 100, 200])


class ScriptedEncoder:
    """Says the same for every swipe, whatever its path."""

    def __init__(self, probabilities):
        self.log_probs = np.log(np.array(probabilities, dtype=np.float32))[None]

    def run(self, paths, keys):
        log_probs = np.repeat(self.log_probs, len(paths), axis=0)
        return Emissions(log_probs, np.zeros((len(paths), 2, 64)), np.zeros((len(paths), 2)))


def keyboard(probabilities, words, letters="abc", scoring=SCORING):
    keys = [Key(letter, (i + 0.5) / len(letters), 0.5, 0.1, 0.5) for i, letter in enumerate(letters)]
    lexicon = Lexicon("test", "", tuple(words), np.array(list(words.values()), dtype=np.uint8))
    return glissando.Keyboard(Layout("test", tuple(keys)), lexicon, ScriptedEncoder(probabilities), scoring)


def test_candidates_come_in_order_with_their_evidence():
    board = keyboard([[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.1, 0.2]], {"ab": 10, "a": 10, "ac": 10})
    found = board.decode(SWIPE)
    assert [one.word for one in found] == ["ab", "a", "ac"]
    assert np.exp(found[0].log_prob) == pytest.approx(0.36, rel=1e-4)
    assert np.exp(found[1].log_prob) == pytest.approx(0.6 * 0.1 + 0.6 * 0.2 + 0.1 * 0.1, rel=1e-4)
    assert sum(one.probability for one in found) == pytest.approx(1)
    assert found[0].letters == "ab"


def test_frequency_and_length_can_turn_the_order():
    frames = [[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.1, 0.2]]
    words = {"ab": 0, "ac": 100, "a": 0}
    assert keyboard(frames, words, scoring=Scoring(0.0, 0.05, 0.0)).decode(SWIPE)[0].word == "ac"
    assert keyboard(frames, words, scoring=Scoring(0.0, 0.0, -5.0)).decode(SWIPE)[0].word == "a"


def test_surface_forms_come_back_without_repeats():
    board = keyboard([[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.1, 0.2]], {"á-b": 9, "AB": 7, "a'b": 5})
    assert [one.word for one in board.decode(SWIPE)] == ["á-b", "AB", "a'b"]


def test_a_letter_on_two_keys_adds_them_up():
    # Keys a, b, a: each a key alone is less likely than b, together they are not.
    frames = [[0.3, 0.4, 0.25, 0.05], [0.05, 0.05, 0.05, 0.85]]
    board = keyboard(frames, {"a": 1, "b": 1}, letters="aba")
    found = board.decode(SWIPE)
    assert found[0].word == "a"
    assert np.exp(found[0].log_prob) == pytest.approx(0.55 * 0.85 + 0.05 * 0.1 + 0.55 * 0.1, rel=1e-4)


def test_a_doubled_letter():
    frames = [[0.9, 0.04, 0.03, 0.03], [0.02, 0.03, 0.05, 0.9], [0.9, 0.04, 0.03, 0.03]]
    assert keyboard(frames, {"aa": 1, "a": 1}).decode(SWIPE)[0].word == "aa"


def test_k_bounds_the_list_and_literal_reads_letters():
    board = keyboard([[0.6, 0.2, 0.1, 0.1], [0.1, 0.6, 0.1, 0.2]], {"ab": 1, "a": 1, "ac": 1})
    assert len(board.decode(SWIPE, k=2)) == 2
    assert board.decode(SWIPE, k=0) == []
    assert board.literal(board.letter_log_probs([SWIPE])) == ["ab"]


def test_points_in_any_form():
    board = keyboard([[0.6, 0.2, 0.1, 0.1]], {"a": 1, "b": 1})
    triples = list(zip(SWIPE.x, SWIPE.y, SWIPE.t, strict=True))
    answers = [board.decode(points)[0].word for points in (SWIPE, triples, np.array(triples), iter(triples))]
    assert answers == ["a"] * 4
    with pytest.raises(GestureError, match="time runs backwards"):
        board.decode([(0, 0, 5), (0, 0, 1)])


def test_batch_equals_one_by_one(tiny_weights):
    board = glissando.load("qwerty", lexicon={"hello": 5, "help": 4, "world": 3, "held": 2}, weights=tiny_weights)
    rng = np.random.default_rng(0)
    swipes = [Gesture(rng.random(9), rng.random(9), np.arange(9) * 40) for _ in range(70)]
    together = board.decode_batch(swipes, k=3)
    for swipe, candidates in zip(swipes, together, strict=True):
        assert [one.word for one in candidates] == [one.word for one in board.decode(swipe, k=3)]


def test_one_encoder_serves_any_layout(tiny_weights):
    mine = glissando.Layout.from_rows("mine", ["qwfpgjluy", "arstdhneio", "zxcvbkm"])
    board = glissando.load(mine, lexicon={"stone": 5, "tone": 4}, weights=tiny_weights)
    assert {one.word for one in board.decode(SWIPE, k=5)} <= {"stone", "tone"}
    assert board.method == "encoder"


QWERTY = load_layout("qwerty")
WORDS = {"type": 3, "were": 5, "poet": 2, "it": 9}


def moved(shift):
    """QWERTY with its b moved."""
    dx, dy = shift
    return Layout(
        "moved",
        tuple(replace(key, cx=key.cx + dx, cy=key.cy + dy) if key.letter == "b" else key for key in QWERTY.keys),
    )


def turned(layout=QWERTY):
    """The layout with its keys in another order."""
    return Layout("turned", tuple(layout.keys[::-1]))


def swapped():
    """QWERTY with a and l where the other was."""
    places = {"a": "l", "l": "a"}
    return Layout("swapped", tuple(replace(key, letter=places.get(key.letter, key.letter)) for key in QWERTY.keys))


@pytest.mark.parametrize(
    "layout",
    [
        QWERTY,
        replace(QWERTY, aspect=1.2),
        moved((0.05, 0)),
        moved((0, -0.05)),
        moved((0.1, -0.1)),
        load_layout("qwerty_z15"),
    ],
    ids=["itself", "taller", "right", "up", "just", "z15"],
)
def test_the_same_keyboard_within_a_tenth(layout):
    np.testing.assert_array_equal(match_keys(layout, QWERTY), np.arange(26))


@pytest.mark.parametrize(
    "layout",
    [
        moved((0.2, -0.02)),
        moved((0, -0.2)),
        moved((0.11, 0)),
        swapped(),
        Layout("extra", (*QWERTY.keys, Key("é", 0.05, 0.9, 0.05, 0.1))),
        Layout("second a", (*QWERTY.keys, Key("a", 0.05, 0.9, 0.05, 0.1))),
        Layout("fewer", QWERTY.keys[:-1]),
        Layout("e twice", tuple(replace(key, letter="e") if key.letter == "q" else key for key in QWERTY.keys)),
        *map(load_layout, ("jcuken", "azerty", "qwertz", "clearflow")),
    ],
    ids=lambda layout: layout.name,
)
def test_not_the_same_keyboard(layout):
    assert not len(match_keys(layout, QWERTY))


def test_keys_in_another_order_are_found_where_they_are():
    places = match_keys(turned(), QWERTY)
    assert [turned().letters[place] for place in places] == list(QWERTY.letters)


def load(layout="qwerty", **options):
    return glissando.load(layout, lexicon=WORDS, **options)


@pytest.fixture
def packaged(monkeypatch, tiny_weights, tiny_decoder):
    """The tiny networks in place of the packaged ones."""
    files = {"encoder": tiny_weights, "decoder": tiny_decoder}
    monkeypatch.setattr("glissando.keyboard.load_weights", lambda name: load_weights(files.get(name, name)))
    monkeypatch.setattr("glissando.keyboard.packaged_weights", lambda: ("decoder", "encoder"))


@pytest.mark.usefixtures("packaged")
def test_the_decoder_reads_its_own_layout_and_the_encoder_the_others():
    assert load().method == "decoder"
    assert load(moved((0.05, 0))).method == "decoder"
    assert load(moved((0, -0.2))).method == "encoder"
    assert load("jcuken").method == "encoder"
    assert load(method="encoder").method == "encoder"
    assert load(language="en").method == "decoder"
    assert load(language="de").method == "encoder"  # it was trained on English words
    assert load(language="de", method="decoder").method == "decoder"


@pytest.mark.usefixtures("packaged")
def test_a_decoder_asked_for_where_there_is_none_is_an_error():
    with pytest.raises(WeightsError, match=r"no decoder for layout 'jcuken': .* layout 'qwerty'.*use method 'encoder'"):
        load("jcuken", method="decoder")
    with pytest.raises(WeightsError, match="no method 'shark2'; a keyboard has encoder, decoder"):
        load(method="shark2")


def test_a_decoder_is_not_used_over_another_encoder(tiny_weights, tiny_decoder):
    weights = load_weights(tiny_weights)
    other = EncoderRuntime(Weights("other", weights.data, {**weights.card, "sha256": "f" * 64}))
    assert choose_decoder(QWERTY, "en", other, decoder=tiny_decoder) is None
    with pytest.raises(WeightsError, match=r"belongs to the encoder .* not to other"):
        Keyboard(QWERTY, Lexicon.from_counts(WORDS), other, SCORING, decoder=DecoderRuntime(load_weights(tiny_decoder)))


def test_a_decoder_of_other_frames_is_refused(tiny_weights, tiny_decoder):
    decoder = DecoderRuntime(load_weights(tiny_decoder))
    decoder.frames = 64
    with pytest.raises(WeightsError, match="takes 64 frames, the encoder gives 32"):
        Keyboard(
            QWERTY, Lexicon.from_counts(WORDS), EncoderRuntime(load_weights(tiny_weights)), SCORING, decoder=decoder
        )


def test_without_a_packaged_decoder_the_encoder_decodes(monkeypatch, tiny_weights):
    monkeypatch.setattr("glissando.keyboard.packaged_weights", lambda: ("encoder",))
    assert load(weights=tiny_weights).method == "encoder"
    with pytest.raises(WeightsError, match="no decoder for layout 'qwerty': none is packaged"):
        load(weights=tiny_weights, method="decoder")


@pytest.mark.usefixtures("packaged")
def test_the_decoders_words_do_not_depend_on_the_order_of_keys():
    plain, other = load(), load(turned())
    found, again = plain.decode(SWIPE), other.decode(SWIPE)
    assert [one.word for one in found] == [one.word for one in again]
    np.testing.assert_allclose([one.score for one in found], [one.score for one in again], rtol=1e-4)
    alone = load(method="encoder").decode(SWIPE)
    assert abs(found[0].score - alone[0].score) > 1e-3  # the decoder had its say


@pytest.mark.usefixtures("packaged")
def test_what_the_keyboard_shows_is_what_the_decoder_made_of_it():
    board, alone = load(), load(method="encoder")
    shown, seen = board.emissions(SWIPE), alone.emissions(SWIPE)
    corrected = board.decoder.run(seen, np.append(match_keys(QWERTY, board.decoder.layout), 26))
    np.testing.assert_allclose(shown.log_probs, corrected.log_probs, atol=1e-5)
    np.testing.assert_array_equal(shown.gate, seen.gate)
    batch = board.decode_batch([SWIPE, SWIPE], k=2)
    assert [one.word for one in batch[0]] == [one.word for one in board.decode(SWIPE, k=2)]


def plainly_ranked(board, hypotheses, distances):
    """Every word of a beam as (word, score, share), best first: ``Keyboard.rank`` written out."""
    rows = [
        (board.trie.words[slot], i)
        for i, node in enumerate(hypotheses.nodes[0].tolist())
        if node >= 0
        for slot in range(board.trie.endings[node], board.trie.endings[node + 1])
    ]
    words, owners = (np.array(column) for column in zip(*rows, strict=True))
    bytes_, nodes = board.lexicon.frequencies[words], hypotheses.nodes[0][owners]
    evidence, far = hypotheses.log_probs[0][owners], distances[0][owners]
    scores = score_words(evidence, board.trie.depths[nodes], bytes_, board.scoring, far)
    order = np.lexsort((-bytes_.astype(int), -scores))
    shares = softmax(scores, board.scoring.temperature)
    return [(board.lexicon.words[words[i]], scores[i], shares[i]) for i in order]


@pytest.mark.parametrize("seed", range(5))
def test_ranking_is_scoring_and_sorting(seed):
    rng = np.random.default_rng(seed)
    words = {"".join(rng.choice(list("abc'A"), rng.integers(1, 7))): int(rng.integers(0, 90)) for _ in range(150)}
    words = {word: byte for word, byte in words.items() if word.strip("'")}
    scoring = Scoring(0.3, 0.05, 0.7, 0.2, 1.0, 40.0, 1.5, 4.0, 0.8)
    board = keyboard([[0.25] * 4], words, scoring=scoring)
    ends = np.flatnonzero(np.diff(board.trie.endings))
    nodes = rng.permutation(np.append(rng.choice(ends, 20), [-1, -1]))[None].astype(np.int32)
    hypotheses = Hypotheses(nodes, rng.integers(-9, 0, nodes.shape).astype(np.float32))
    distances = rng.integers(0, 2, (*nodes.shape, 2)).astype(np.float32)  # whole numbers, so that there are ties
    found = board.rank(hypotheses, 0, 1000, distances)
    expected = plainly_ranked(board, hypotheses, distances)
    assert [one.word for one in found] == [word for word, _, _ in expected]
    np.testing.assert_allclose([one.score for one in found], [score for _, score, _ in expected], rtol=1e-12)
    np.testing.assert_allclose([one.probability for one in found], [share for _, _, share in expected], rtol=1e-9)
    assert board.rank(hypotheses, 0, 3, distances) == found[:3]
    assert board.rank(hypotheses, 0, 0, distances) == []
    assert board.rank(Hypotheses(np.full((1, 4), -1), np.zeros((1, 4))), 0, 5) == []
