from dataclasses import replace

import numpy as np
import pytest
from scripted import SWIPE, ScriptedMatcher, doubting, scripted_keyboard

import glissando
from glissando.ctc import word_log_probs
from glissando.errors import ContextError, WeightsError
from glissando.gesture import Gesture
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon
from glissando.ngrams import build_context
from glissando.scoring import Scoring, score_words, softmax
from glissando.stages import LEXICON, Spellings


def test_candidates_come_in_order_with_their_evidence():
    board = scripted_keyboard({"ab": 10, "a": 10, "ac": 10})
    found = board.decode(SWIPE)
    assert [one.word for one in found] == ["ab", "a", "ac"]
    assert np.exp(found[0].log_prob) == pytest.approx(0.36, rel=1e-4)
    assert np.exp(found[1].log_prob) == pytest.approx(0.6 * 0.1 + 0.6 * 0.2 + 0.1 * 0.1, rel=1e-4)
    assert sum(one.probability for one in found) == pytest.approx(1)
    assert found[0].letters == "ab"


def test_frequency_and_length_can_turn_the_order():
    words = {"ab": 0, "ac": 100, "a": 0}
    for scoring, word in ((Scoring(0.0, 0.05, 0.0), "ac"), (Scoring(0.0, 0.0, -5.0), "a")):
        assert scripted_keyboard(words, scoring=scoring).decode(SWIPE)[0].word == word


def test_a_narrow_beam_looks_ahead_where_the_constants_say_so():
    frames, words = [[0.49, 0.48, 0.01, 0.02], [0.01, 0.01, 0.96, 0.02]], {"ac": 40, "bc": 200}
    for weight, word in ((0.0, "ac"), (0.01, "bc")):
        board = scripted_keyboard(words, frames, scoring=Scoring(pruning_frequency=weight), width=1)
        assert [found.word for found in board.decode(SWIPE)] == [word]
        assert [found.word for found in board.decode_batch([SWIPE] * 2)[1]] == [word]


def test_surface_forms_come_back_without_repeats():
    board = scripted_keyboard({"á-b": 9, "AB": 7, "a'b": 5})
    assert [one.word for one in board.decode(SWIPE)] == ["á-b", "AB", "a'b"]


def test_a_letter_on_two_keys_adds_them_up():
    # Keys a, b, a: each a key alone is less likely than b, together they are not.
    frames = [[0.3, 0.4, 0.25, 0.05], [0.05, 0.05, 0.05, 0.85]]
    found = scripted_keyboard({"a": 1, "b": 1}, frames, letters="aba").decode(SWIPE)
    assert found[0].word == "a"
    assert np.exp(found[0].log_prob) == pytest.approx(0.55 * 0.85 + 0.05 * 0.1 + 0.55 * 0.1, rel=1e-4)


def test_k_bounds_the_list_and_literal_reads_letters():
    board = scripted_keyboard({"ab": 1, "a": 1, "ac": 1})
    assert len(board.decode(SWIPE, k=2)) == 2
    assert board.decode(SWIPE, k=0) == []
    assert board.greedy(board.read([SWIPE]).log_probs) == ["ab"]


def plainly_ranked(board, spellings):
    """Every word of some spellings as (word, score, share), best first: ``score`` and ``choose`` written out."""
    rows = [
        (board.trie.words[slot], i)
        for i, node in enumerate(spellings.nodes.tolist())
        for slot in range(board.trie.endings[node], board.trie.endings[node + 1])
    ]
    words, owners = (np.array(column) for column in zip(*rows, strict=True))
    bytes_, nodes = board.lexicon.frequencies[words], spellings.nodes[owners]
    evidence, far = spellings.log_probs[owners], spellings.distances[owners]
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
    board = scripted_keyboard(words, [[0.25] * 4], scoring=scoring)
    ends = np.flatnonzero(np.diff(board.trie.endings))
    nodes = rng.choice(ends, 20, replace=False).astype(np.int32)
    spellings = Spellings.of_words(LEXICON, board.trie, nodes, rng.integers(-9, 0, 20).astype(np.float32), np.zeros(20))
    distances = rng.integers(0, 2, (20, 2)).astype(np.float32)  # whole numbers, so that there are ties
    spellings = replace(spellings, distances=distances)
    found = board.choose(board.score(spellings), 1000)
    expected = plainly_ranked(board, spellings)
    assert [one.word for one in found] == [word for word, _, _ in expected]
    np.testing.assert_allclose([one.score for one in found], [score for _, score, _ in expected], rtol=1e-12)
    np.testing.assert_allclose([one.probability for one in found], [share for _, _, share in expected], rtol=1e-9)
    assert board.choose(board.score(spellings), 3) == found[:3]
    assert board.choose(board.score(spellings), 0) == []
    assert board.choose(board.score(spellings.take(np.zeros(0, int)))) == []


def test_a_variant_shares_what_does_not_change(tiny_weights):
    board = glissando.load("qwerty", lexicon={"hello": 5, "help": 4}, weights=tiny_weights, method="encoder")
    narrow = board.replace(width=7, scoring=Scoring())
    assert narrow.trie is board.trie
    assert (narrow.width, narrow.pruning.width, board.width) == (7, 7, 100)
    other = board.replace(lexicon=Lexicon.from_counts({"world": 1}))
    assert other.trie.find("world") > 0
    assert other.trie.find("hello") == -1
    with pytest.raises(TypeError, match="colour"):
        board.replace(colour="red")


def test_the_stages_are_the_steps_one_by_one(tiny_weights, tiny_decoder):
    words = {"hello": 5, "help": 4, "world": 3, "held": 2}
    board = glissando.load("qwerty", lexicon=words, weights=tiny_weights, decoder=tiny_decoder, method="decoder")
    board = board.replace(width=6, scoring=Scoring(location_weight=1.0))
    rng = np.random.default_rng(0)
    swipes = [Gesture(rng.random(9), rng.random(9), np.arange(9) * 40) for _ in range(5)]
    stages = board.stages(swipes, k=2)
    for row, swipe in enumerate(swipes):
        found, spellings = stages.spellings[row], board.measure(swipe, board.search(stages.readings, row))
        for name in ("nodes", "log_probs", "distances", "frequencies"):
            np.testing.assert_array_equal(getattr(found, name), getattr(spellings, name))
        assert stages.candidates[row] == board.choose(board.score(spellings), 2)
    again = board.stages(swipes, 0, stages.readings)
    assert again.readings is stages.readings
    assert again.candidates == [[]] * 5
    assert board.replace(scoring=Scoring()).stages(swipes).spellings[0].distances is None
    assert board.decode_batch([]) == []


@pytest.fixture
def networks(tiny_weights, tiny_decoder):
    return {"weights": tiny_weights, "decoder": tiny_decoder, "lexicon": {"type": 3, "were": 5, "poet": 2, "it": 9}}


def test_the_matcher_helps_on_every_layout_unless_another_method_is_asked_for(networks):
    def method(layout="qwerty", **options):
        return glissando.load(layout, **networks, **options).method

    assert method() == method("clearflow") == method(language="de") == method(method="matcher") == "matcher"
    assert method(method="encoder") == "encoder"
    assert method(method="decoder") == method(language="de", method="decoder") == "decoder"
    assert method(scoring="en") == "encoder"  # these constants know no matcher
    with pytest.raises(WeightsError, match="these constants know no matcher: they lack 'matched'"):
        method(scoring="en", method="matcher")


def test_a_decoder_that_does_not_fit_is_refused(networks):
    with pytest.raises(WeightsError, match=r"no decoder for layout 'jcuken': .* layout 'qwerty'.*use method 'encoder'"):
        glissando.load("jcuken", **networks, method="decoder")
    with pytest.raises(WeightsError, match="no method 'shark2'; choose one of auto, encoder, decoder, matcher"):
        glissando.load(**networks, method="shark2")


def test_the_decoders_words_do_not_depend_on_the_order_of_keys(networks):
    qwerty = load_layout("qwerty")
    plain = glissando.load(qwerty, **networks, method="decoder")
    turned = glissando.load(Layout("turned", tuple(qwerty.keys[::-1])), **networks, method="decoder")
    candidates, again = plain.decode(SWIPE), turned.decode(SWIPE)
    assert [one.word for one in candidates] == [one.word for one in again]
    np.testing.assert_allclose([one.score for one in candidates], [one.score for one in again], rtol=1e-4)
    alone = glissando.load(qwerty, **networks, method="encoder").decode(SWIPE)
    assert abs(candidates[0].score - alone[0].score) > 1e-3  # the decoder changes the score


def test_the_encoder_searches_and_the_decoder_weighs_the_finalists(networks):
    board = glissando.load(**networks, method="decoder")
    alone = board.replace(decoder=None)
    readings = board.read([SWIPE])
    np.testing.assert_array_equal(readings.log_probs, alone.read([SWIPE]).log_probs)
    corrected = board.decoder.run(board.emissions(SWIPE), board.decoder_columns)
    np.testing.assert_allclose(readings.corrected, corrected.log_probs, atol=1e-5)
    plain = alone.search(alone.read([SWIPE]))
    judged = word_log_probs(readings.corrected[0], plain.nodes, board.trie)
    for share in (0.0, 0.3, 1.0):
        weighed = board.replace(scoring=replace(board.scoring, decoder_share=share)).search(readings)
        np.testing.assert_array_equal(weighed.nodes, plain.nodes)
        wanted = (1 - share) * plain.log_probs + share * judged
        np.testing.assert_allclose(weighed.log_probs, wanted, rtol=1e-5)


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """A keyboard that reads "ab", and a context in which "ac" follows "b"."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("b ac b ac\na ab\n" * 3)
    board = scripted_keyboard({"ab": 10, "ac": 10, "a": 10, "c": 10})
    return board.replace(context=build_context([path], {}, 10_000), scoring=replace(board.scoring, context_weight=3.0))


def test_the_words_before_have_a_say(spoken):
    alone = spoken.decode(SWIPE)
    assert alone[0].word == "ab"
    after = spoken.decode(SWIPE, context="ac b")
    assert after[0].word == "ac"
    assert sum(one.probability for one in after) == pytest.approx(1)
    numbers = spoken.context.number([one.word for one in after])
    gains = spoken.context.after("ac b").gains(numbers)
    scores = {one.word: one.score for one in alone}
    for one, gain in zip(after, gains, strict=True):
        assert one.score == pytest.approx(scores[one.word] + 3.0 * gain)


def test_no_context_changes_nothing(spoken):
    alone = spoken.decode(SWIPE)
    assert spoken.decode(SWIPE, context="zzz") == alone  # unknown
    assert spoken.replace(context=None).decode(SWIPE, context="b") == alone
    assert spoken.replace(scoring=replace(spoken.scoring, context_weight=0.0)).decode(SWIPE, context="b") == alone
    for text in ("\0", "слово", "b" * 10**6, "1 2 3", "🙂"):
        assert [one.word for one in spoken.decode(SWIPE, context=text)]


def test_a_batch_may_have_a_text_before_each_swipe(spoken):
    stages = spoken.stages([SWIPE] * 3, 2, contexts=["ac b", None, "zzz"])
    assert [ranked[0].word for ranked in stages.candidates] == ["ac", "ab", "ab"]
    assert stages.candidates[0] == spoken.decode(SWIPE, 2, "ac b")
    assert len(stages.finalists) == 3
    assert spoken.stages([SWIPE], 0).finalists == []


def test_a_sentence_is_decoded_together(spoken):
    assert spoken.decode_sentence([SWIPE], context="ac b").words == ("ac",)
    sentence = spoken.decode_sentence([SWIPE, SWIPE], k=2, context="ac b")
    assert sentence.words == ("a", "ab")  # as the text has it, though the first swipe alone says ac
    assert [len(ranked) for ranked in sentence.candidates] == [2, 2]
    assert 0 < sentence.probability <= 1
    assert spoken.decode_sentence([SWIPE], context=None).words == ("ab",)
    assert spoken.decode_sentence([]).words == ()


def test_load_finds_the_context_of_the_language(tiny_weights):
    words = {"hello": 2, "world": 1}
    options = {"lexicon": words, "weights": tiny_weights, "method": "encoder"}
    assert glissando.load("qwerty", "en", **options).context.language == "en"
    assert glissando.load("qwerty", "xx", **options).context is None
    assert glissando.load("qwerty", "en", context=None, **options).context is None
    assert glissando.load("qwerty", "en", context="de", **options).context.language == "de"
    with pytest.raises(ContextError, match="no context 'nope'"):
        glissando.load("qwerty", "en", context="nope", **options)


def test_the_matcher_is_asked_in_doubt_alone():
    words = {"ab": 10, "cb": 10}
    sure = doubting(words, doubt=0.0)
    assert sure.decode(SWIPE) == scripted_keyboard(words).decode(SWIPE)
    assert sure.matcher.shown == []
    board = doubting(words)
    found = board.decode(SWIPE)
    assert [one.word for one in found] == ["cb", "ab"]
    assert len(board.matcher.shown) == 1
    # Two key widths lie between c and a; the evidence is that of the encoder.
    gap = found[0].score - found[1].score
    width = board.layout.key_size[0]
    assert gap == pytest.approx(2 / 3 / width + found[0].log_prob - found[1].log_prob, rel=1e-4)
    assert found[0].probability == pytest.approx(1 / (1 + np.exp(-gap / 2)), rel=1e-4)  # its own temperature
    stages = board.stages([SWIPE, SWIPE])
    assert stages.candidates == [board.decode(SWIPE)] * 2
    assert stages.matches[0].shape == (len(stages.spellings[0]),)


def test_the_matcher_sees_key_widths_by_the_aspect_of_the_layout():
    board = doubting({"ab": 10, "cb": 10})
    board.decode(SWIPE)
    ((path, keys, mask),) = board.matcher.shown
    width, aspect = board.layout.key_size[0], board.layout.aspect
    np.testing.assert_allclose(path[0], (SWIPE.path().T - 0.5) * [1 / width, aspect / width], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(keys[0, :, 0, 0], [-1 / 3 / width, 1 / 3 / width], rtol=1e-5)
    assert mask.all()
    tall = board.replace(layout=replace(board.layout, aspect=1.2), matcher=ScriptedMatcher())
    tall.decode(Gesture([0.1, 0.9], [0.2, 0.8], [0, 100]))
    ratio = tall.key_widths / board.key_widths
    np.testing.assert_allclose(ratio, [1, 1.2 / aspect], rtol=1e-5)


def test_of_several_keys_of_a_letter_the_nearest_to_the_path_counts():
    frames = [[0.3, 0.3, 0.3, 0.1], [0.1, 0.3, 0.1, 0.5]]
    board = doubting({"a": 10, "b": 10}, probabilities=frames, letters="aba")
    for x, side in ((0.1, -1), (0.9, 1)):
        board.decode(Gesture([x, x], [0.5, 0.6], [0, 100]))
        _, keys, _ = board.matcher.shown[-1]
        first = [row[0, 0] for row in keys[0]]
        assert max(first, key=abs) * side > 0


def test_without_enough_to_compare_or_with_words_too_long_the_encoder_answers():
    one = doubting({"ab": 10})
    assert one.decode(SWIPE)[0].word == "ab"
    assert one.matcher.shown == []
    long = "ab" * 11
    frames = [[0.5, 0.2, 0.1, 0.2], [0.2, 0.5, 0.1, 0.2]] * 12
    board = doubting({long: 10, "ab": 10}, probabilities=frames)
    assert {one.word for one in board.decode(SWIPE)} == {long, "ab"}
    assert board.matcher.shown == []


def test_finalists_that_were_not_compared_come_last():
    words = {a + b: 10 for a in "abc" for b in ["", *"abc", "ab", "ac", "ba", "bc", "ca", "cb"]}
    board = doubting(words, probabilities=[[0.3, 0.3, 0.3, 0.1]] * 6)
    found = board.decode(SWIPE, k=100)
    _, keys, _ = board.matcher.shown[0]
    assert keys.shape[1] == 16 < len(found)
    matches = board.stages([SWIPE]).matches[0]
    assert (matches == matches.min()).sum() >= len(found) - 16


def test_a_tap_has_an_answer_with_the_packaged_matcher():
    board = glissando.load("qwerty", lexicon={"a": 5, "as": 3, "sad": 2}, method="matcher")
    assert board.method == "matcher"
    assert board.decode([(0.05, 0.5, 0)])
    lone = Layout("lone", load_layout("qwerty").keys[:1])
    assert glissando.load(lone, lexicon={"q": 1, "qq": 2}, method="matcher").decode([(0.5, 0.5, 0)])


def test_weights_that_are_no_matcher_are_refused(tiny_weights):
    with pytest.raises(WeightsError, match="a matcher takes path, keys, mask and gives scores"):
        glissando.load(lexicon={"a": 1}, matcher=tiny_weights, method="matcher")


def test_what_is_read_of_a_swipe_does_not_depend_on_the_others():
    board, rng = glissando.load("qwerty", "en"), np.random.default_rng(0)
    paths = rng.uniform(size=(75, 2, 64)).astype(np.float32)
    whole = board.read_paths(paths).log_probs
    for size in (1, 2, 7, 33):
        parts = [board.read_paths(paths[start : start + size]).log_probs for start in range(0, len(paths), size)]
        assert np.array_equal(np.concatenate(parts), whole)
