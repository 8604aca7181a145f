from collections import Counter
from itertools import pairwise

import pytest
import wordfreq

from glissando.corpus.filters import typeable
from glissando.layout import Layout, builtin_layouts, load_layout
from glissando.lexicon import typed_letters
from glissando.web.sentences import Pool, SentencesError, load_sentences, read_sentences, words_of
from glissando.web.settings import Settings

LAYOUTS = {"en": "qwerty", "ru": "jcuken33", "es": "spanish", "de": "german", "fr": "azerty"}
FREQUENT = 5e-4  # of all bigrams in wordfreq's list


@pytest.fixture(scope="module")
def built_in():
    return load_sentences(Settings())


def bigrams(word):
    return [a + b for a, b in pairwise(word)]


@pytest.mark.parametrize("language", LAYOUTS)
def test_the_built_in_sentences_cover_the_language(built_in, language):
    sentences = built_in[language]
    assert len(sentences) >= 200
    assert all(2 <= len(one.split()) <= 14 for one in sentences)
    letters = frozenset(load_layout(LAYOUTS[language]).letters)
    typed = ["".join(typed_letters(word, letters)) for one in sentences for word in one.split()]
    counts = Counter("".join(typed))
    missing = {letter for letter in letters - {"'"} if counts[letter] < 2}
    assert missing == set()
    usual: Counter[str] = Counter()
    for word, share in wordfreq.get_frequency_dict(language, "small").items():
        for pair in bigrams("".join(typed_letters(word, letters))):
            usual[pair] += share
    frequent = {pair for pair, share in usual.items() if share >= FREQUENT * usual.total()}
    assert len(frequent) > 150
    assert frequent - {pair for word in typed for pair in bigrams(word)} == set()


@pytest.fixture(scope="module")
def pool(built_in):
    return Pool(built_in, {name: load_layout(name) for name in builtin_layouts()})


def test_draw(built_in, pool):
    assert len(set(pool.draw("en", "qwerty", 5))) == 5
    assert sorted(pool.draw("en", "qwerty", 10_000)) == sorted(built_in["en"])
    with pytest.raises(SentencesError, match="no sentences in 'xx'; there are some in de, en"):
        pool.draw("xx", "qwerty", 1)
    with pytest.raises(
        SentencesError, match="'qwerty' can type no sentence in 'ru'; layouts that can are jcuken, jcuk"
    ):
        pool.draw("ru", "qwerty", 1)


def test_only_what_a_layout_can_type_is_drawn(pool):
    for (language, name), lines in pool.typed.items():
        letters = frozenset(load_layout(name).letters)
        for line in lines:
            assert all(typeable(word, letters) for word in line.split() if any(map(str.isalnum, word))), (name, line)
        assert name in pool.layouts[language]


def test_a_sentence_with_one_word_too_much_is_not_asked_for():
    small = Layout.from_rows("small", ["abc", "def"])
    pool = Pool({"xx": ("Bad cab – fed!", "A bad egg", "Ça", "1 bad", "–")}, {"small": small})
    assert set(pool.typed["xx", "small"]) == {"Bad cab – fed!", "Ça"}
    assert pool.layouts == {"xx": ["small"]}
    with pytest.raises(SentencesError, match="no layout here can"):
        Pool({"xx": ("Zzz",)}, {"small": small}).draw("xx", "small", 1)


def test_layouts_made_for_a_language_come_first(pool):
    assert pool.layouts["de"][:2] == ["german", "qwertz"]
    assert pool.layouts["ru"][0] == "jcuken"
    assert "qwerty" not in pool.layouts["ru"]
    assert "jcuken" not in pool.layouts["en"]


def test_the_words_of_sentences_as_a_lexicon():
    lexicon = Pool({"cy": ("Bore da, i chi!", "Nos da – i’r dre 5")}, {}).lexicon("cy")
    assert set(lexicon.words) == {"Bore", "da", "i", "chi", "Nos", "i’r", "dre"}
    assert lexicon.language == "cy"
    assert lexicon.frequencies[lexicon.words.index("da")] > lexicon.frequencies[lexicon.words.index("chi")]


def test_the_operators_file(tmp_path):
    file = tmp_path / "cy.txt"
    file.write_text("# Welsh\nBore da i chi\n\n Bore da i chi \nNos da\n", encoding="utf-8")
    assert load_sentences(Settings(sentences=str(file), language="cy")) == {"cy": ("Bore da i chi", "Nos da")}


@pytest.mark.parametrize(
    ("content", "message"), [(b"# none\n", "no sentence"), (b"\xff\xfe", "not UTF-8"), (b"a" * 500, "has over")]
)
def test_files_that_are_none(tmp_path, content, message):
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.raises(SentencesError, match=message):
        read_sentences(tmp_path / "x.txt")
    with pytest.raises(SentencesError, match="cannot read"):
        read_sentences(tmp_path / "none.txt")


def test_words_and_what_of_them_is_typed():
    assert words_of("Don't go – 5 €!", load_layout("qwerty")) == [
        ("Don't", "dont"), ("go", "go"), ("–", ""), ("5", ""), ("€!", ""),
    ]  # fmt: skip
