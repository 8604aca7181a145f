"""Several languages: which of them a text is in, what that does to words, and contexts mixed by language."""

from itertools import product

import numpy as np
import pytest

from glissando.context import Context
from glissando.errors import ContextError, LexiconError
from glissando.languages import DECADE, LACKING, MAIN, SWITCH, Contexts, Languages, load_contexts
from glissando.lexicon import Lexicon, join_lexicons
from glissando.ngrams import build_context
from glissando.sentence import Slot, best_sequence
from glissando.trie import build_trie

ENGLISH = {"the": 220, "die": 120, "house": 150, "mouse": 100, "taxi": 110}
GERMAN = {"die": 220, "Haus": 150, "mause": 60, "taxi": 110, "gross": 120}


def lexicon(language, bytes_of):
    return Lexicon(language, language, tuple(bytes_of), np.array([*bytes_of.values()], np.uint8))


@pytest.fixture(scope="module")
def languages():
    return Languages(join_lexicons([lexicon("en", ENGLISH), lexicon("de", GERMAN)]), np.array([0.5, 0.5]))


@pytest.fixture(scope="module")
def contexts(languages, tmp_path_factory):
    texts = {
        "en": "the house is old\nin the house\nthe mouse\n" * 3,
        "de": "das Haus ist alt\ndie mause\ndas Haus\n" * 3,
    }
    built = []
    for code, text in texts.items():
        path = tmp_path_factory.mktemp("text") / f"{code}.txt"
        path.write_text(text)
        built.append(build_context([path], {"language": code}, 100_000))
    return Contexts(languages, tuple(built))


def test_one_word_by_hand(languages):
    ratio = 10 ** ((220 - 120) / DECADE)
    german = ratio / (1 + ratio)
    assert languages.posterior("die")[1] == pytest.approx((1 - SWITCH) * german + SWITCH / 2)


def test_a_word_that_a_language_lacks_is_rarer_than_its_rarest(languages):
    ratio = 10 ** ((220 - (60 - LACKING)) / DECADE)  # the rarest German word has byte 60
    assert languages.posterior("the")[0] == pytest.approx((1 - SWITCH) * ratio / (1 + ratio) + SWITCH / 2)


def test_the_filter_sums_over_all_sequences_of_languages(languages):
    words = ["the", "die", "Haus", "taxi"]
    evidence = [[10 ** (byte / DECADE) for byte in pair] for pair in ((220, 24), (120, 220), (100 - LACKING, 150))]
    evidence.append([1.0, 1.0])
    step = np.full((2, 2), SWITCH / 2) + (1 - SWITCH) * np.eye(2)
    total = np.zeros(2)
    for path in product(range(2), repeat=5):  # the language of each word and of the next
        chance = 0.5
        for at, language in enumerate(path[:-1]):
            chance *= evidence[at][language] * step[language, path[at + 1]]
        total[path[-1]] += chance
    assert languages.posterior(" ".join(words)) == pytest.approx(total / total.sum())


def test_nothing_known_is_the_prior(languages):
    for text in (None, "", "...", "xyzzy 42", "taxi"):
        assert languages.posterior(text) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("word", ["Haus", "Groß", "GROSS", "Die"])
def test_words_are_found_as_written_in_lower_case_and_folded(languages, word):
    assert languages.posterior(word)[1] > 0.9


def test_only_the_last_words_count_and_a_cut_word_does_not(languages):
    assert languages.posterior("the " * 40 + "die Haus gross die")[1] > 0.9
    assert languages.posterior("die " + "taxi " * 12) == pytest.approx([0.5, 0.5])
    # The 256th character from the end lies inside "thedie", of which "die" is left.
    assert languages.posterior("thedie" + "." * 253) == pytest.approx([0.5, 0.5])


def test_the_language_named_first_is_the_main_one():
    joined = join_lexicons([lexicon(code, GERMAN) for code in ("de", "en", "es")])
    assert Languages(joined).prior == pytest.approx([MAIN, (1 - MAIN) / 2, (1 - MAIN) / 2])
    assert Languages(joined, np.array([2, 1, 1])).prior == pytest.approx([0.5, 0.25, 0.25])
    for prior in ([1, 1], [1, 1, 0], [1, np.nan, 1]):
        with pytest.raises(LexiconError, match="the prior of de, en, es is 3 positive numbers"):
            Languages(joined, np.array(prior))


def test_one_language_keeps_its_bytes():
    alone = Languages(lexicon("en", ENGLISH))
    words = np.arange(len(ENGLISH))
    assert alone.posterior("die die") == pytest.approx([1.0])
    assert alone.frequencies(words, alone.posterior("die")) == pytest.approx([*ENGLISH.values()])
    assert alone.frequencies(words, alone.prior, 115) == pytest.approx([220, 120, 150, 115, 115])
    assert alone.language_of(words, alone.prior) == ["en"] * 5


def test_mixed_frequencies(languages):
    house, haus, taxi, die = languages.find(["house", "Haus", "taxi", "die"])
    equal = languages.frequencies(np.array([house, haus, taxi]), languages.prior)
    assert equal == pytest.approx([150, 150, 110 + DECADE * np.log10(2)])  # in both languages: twice as likely
    sure = np.array([0.99, 0.01])
    mixed = languages.frequencies(np.array([house, haus, die]), sure, floor=200)
    assert mixed[:2] == pytest.approx([200, 200 + DECADE * np.log10(0.01 / 0.99)])  # the floor comes before the mixture
    ratio = 0.01 * 10 ** (20 / DECADE) / 0.99
    assert mixed[2] == pytest.approx(200 + DECADE * np.log10(1 + ratio))


def test_the_language_of_a_word_follows_the_text(languages):
    words = languages.find(["house", "Haus", "taxi", "die"])
    assert languages.language_of(words, np.array([0.6, 0.4])) == ["en", "de", "en", "de"]
    assert languages.language_of(words, np.array([0.4, 0.6])) == ["en", "de", "de", "de"]
    shares = languages.shares(words, np.array([0.6, 0.4]))
    assert shares.sum(axis=0) == pytest.approx(np.ones(4))
    assert shares[0, :3] == pytest.approx([1, 0, 0.6])


def test_an_added_word_may_be_of_any_language(languages):
    more = Languages(languages.lexicon.with_words(["glissando"], 90))
    word = more.find(["glissando"])
    assert more.frequencies(word, np.array([0.9, 0.1])) == pytest.approx([90 + DECADE * np.log10(1 / 0.9)])
    assert more.language_of(word, np.array([0.1, 0.9])) == ["de"]


def test_a_language_that_the_layout_cannot_write_is_refused(languages):
    russian = lexicon("ru", {"дом": 100, "мир": 90, "tv": 80})
    joined = Languages(join_lexicons([lexicon("en", ENGLISH), russian]))
    with pytest.raises(LexiconError, match=r"language 'ru' cannot be typed .*: of its 3 words 1 have a letter there"):
        joined.require_typed(build_trie(joined.lexicon, tuple("abcdefghijklmnopqrstuvwxyz")))
    languages.require_typed(build_trie(languages.lexicon, tuple("abcdefghijklmnopqrstuvwxyz")))


def test_gains_are_mixed_by_the_shares_of_languages(contexts):
    words = contexts.number(["house", "Haus", "die", "nowhere"])
    assert words[3] == -1
    outlook = contexts.after("in the")
    posterior = contexts.languages.posterior("in the")
    english, german = (one.after("in the") for one in contexts.contexts)
    shares = contexts.languages.shares(words[:3], posterior)
    gains = [one.gains(context.number(["house", "Haus", "die"])) for one, context in
             zip((english, german), contexts.contexts, strict=True)]  # fmt: skip
    expected = np.log((shares * np.exp(gains)).sum(axis=0))
    assert outlook.gains(words)[:3] == pytest.approx(expected)
    assert expected[0] > 0.5
    assert outlook.gains(words)[3] == 0
    mean = posterior @ [np.exp(english.unseen), np.exp(german.unseen)]
    assert outlook.unseen == pytest.approx(np.log(mean))


def test_a_state_that_advances_is_that_of_the_longer_text(contexts):
    house = int(contexts.number(["house"])[0])
    states = contexts.advance(contexts.state("in the"), house)[1]
    assert states == contexts.state("in the house")[1]
    assert contexts.advance(contexts.state("in the"), -1)[1] == contexts.state("in the xyzzy")[1]
    hash(contexts.state("in the"))


def test_a_language_without_a_context_gains_nothing(languages, contexts):
    half = Contexts(languages, (contexts.contexts[0], None))
    words = half.number(["Haus", "house"])
    gains = half.after("in the").gains(words)
    assert gains[0] == pytest.approx(0)
    assert gains[1] > 0.5
    assert half.header["contexts"].keys() == {"en"}
    none = Contexts(languages, (None, None))
    assert none.after("in the").gains(words).tolist() == [0, 0]
    assert none.after("in the").unseen == pytest.approx(0)
    with pytest.raises(ContextError, match="1 contexts for the languages en, de"):
        Contexts(languages, (None,))


def test_a_sentence_in_two_languages(contexts):
    def slot(*words):
        return Slot(contexts.number(words), np.zeros(len(words)), 1.0)

    assert best_sequence([slot("mouse", "house")], contexts, "in the")[0] == (1,)
    assert best_sequence([slot("mause", "Haus")], contexts, "das")[0] == (1,)
    assert best_sequence([slot("die", "the"), slot("mause", "taxi")], contexts, "das Haus. ")[0] == (0, 0)


def test_contexts_are_found_by_language(languages, contexts):
    found = load_contexts(languages)
    assert isinstance(found, Contexts)
    assert found.language == "en,de"
    assert [one.language for one in found.contexts] == ["en", "de"]
    given = load_contexts(languages, contexts.contexts[1])
    assert given.contexts == (None, contexts.contexts[1])
    assert load_contexts(languages, None) is None
    assert load_contexts(languages, contexts) is contexts
    assert isinstance(load_contexts(Languages(lexicon("en", ENGLISH))), Context)
    assert load_contexts(Languages(join_lexicons([lexicon("tl", ENGLISH), lexicon("sw", GERMAN)]))) is None
    with pytest.raises(ContextError, match="language 'fr', not of en, de"):
        load_contexts(languages, "fr")
