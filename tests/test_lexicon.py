import gzip
import sys

import numpy as np
import pytest

from glissando.errors import LexiconError
from glissando.lexicon import (
    ADDED,
    Lexicon,
    _from_frequencies,
    available_languages,
    join_lexicons,
    language_source,
    load_lexicon,
    type_character,
    typed_letters,
)

LATIN = frozenset("abcdefghijklmnopqrstuvwxyz")
AOSP = """dictionary=main:en,locale=en_US,description=English,date=1414726273,version=54
 word=the,f=222,flags=,originalFreq=222
 word=don't,f=185,flags=,originalFreq=130
  shortcut=dont,f=whitelist
 word=Berlin,f=120,flags=,originalFreq=120
 word=xyzzy,f=3,flags=,not_a_word=true
"""


@pytest.mark.parametrize(
    ("word", "typed"),
    [("Café", "cafe"), ("don't", "dont"), ("Berlin", "berlin"), ("re-enter", "reenter"), ("straße", "strasse")],
)
def test_characters_without_a_key(word, typed):
    assert "".join(typed_letters(word, LATIN)) == typed


def test_a_key_of_its_own_comes_first():
    assert typed_letters("Äpfel", LATIN | {"ä"}) == ("ä", "p", "f", "e", "l")
    jcuken = frozenset("абвгдежзийклмнопрстуфхцчшщыьэюя")
    assert "".join(typed_letters("Объём", jcuken)) == "обьем"
    assert "".join(typed_letters("йод", jcuken)) == "йод"
    assert type_character("İ", frozenset("iı")) == ("i",)


def test_aosp_plain_and_gzip(tmp_path):
    plain, packed = tmp_path / "en.combined", tmp_path / "en.combined.gz"
    plain.write_text(AOSP)
    packed.write_bytes(gzip.compress(AOSP.encode()))
    for path in (plain, packed, plain):  # the third comes from the cache
        lexicon = Lexicon.from_file(path)
        assert lexicon.words == ("the", "don't", "Berlin")
        assert lexicon.frequencies.tolist() == [222, 185, 120]
        assert lexicon.language == "en"
        assert lexicon.name == str(path)


def test_word_per_line_with_counts(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("# comment\nhouse 1000\nmouse\t10\n\nlouse 100\n")
    lexicon = load_lexicon(path)
    assert lexicon.words == ("house", "mouse", "louse")
    assert lexicon.frequencies.tolist() == [255, 1, 128]  # evenly spaced logarithms
    path.write_text("house\nmouse\n")  # without counts, a middle byte
    assert Lexicon.from_file(path).frequencies.tolist() == [128, 128]


def test_wordfreq_languages():
    english = load_lexicon("en")
    assert english.language == "en"
    assert {"the", "don't"} <= set(english.words)
    frequency = dict(zip(english.words, english.frequencies.tolist(), strict=True))
    assert frequency["the"] > frequency["house"] > frequency["nostalgic"]
    assert not any(any(char.isdigit() for char in word) for word in english.words)
    assert "привет" in load_lexicon("ru").words


def test_added_words_have_a_byte_of_their_own_and_known_ones_stay():
    lexicon = Lexicon.from_counts({"a": 1000, "b": 10, "c": 1})
    more = lexicon.with_words(["b", "glissando", "glissando"])
    assert more.words == ("a", "b", "c", "glissando")
    assert more.frequencies[3] == ADDED
    assert more.frequencies[:3].tolist() == lexicon.frequencies.tolist()
    assert lexicon.with_words(["mine"], 200).frequencies[-1] == 200
    with pytest.raises(LexiconError, match="0 to 255"):
        lexicon.with_words(["mine"], 256)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cut.gz", gzip.compress(AOSP.encode())[:-20], "damaged gzip"),
        ("bad.combined", AOSP.replace("f=185", "f=high").encode(), r"bad\.combined:3: expected ' word="),
        ("loud.combined", AOSP.replace("f=185", "f=300").encode(), "over 255"),
        ("three.txt", b"house 3\nmouse 4 5\n", r"three\.txt:2: expected a word and an optional count"),
        ("nan.txt", b"house nan\n", r"nan\.txt:1"),
        ("empty.txt", b"", "no words"),
        ("marks.txt", b"--- 3\n!!! 4\n", "no words"),
        ("bytes.txt", b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_bad_files_say_what_and_where(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(LexiconError, match=message):
        Lexicon.from_file(path)


def test_unknown_sources_and_bad_counts():
    with pytest.raises(LexiconError, match=r"no word list for language 'tlh'.*\ben\b"):
        load_lexicon("tlh")
    with pytest.raises(LexiconError, match="cannot read"):
        load_lexicon("nowhere/words.txt")
    with pytest.raises(LexiconError, match="'b' is nan"):
        Lexicon.from_counts({"a": 1, "b": float("nan")})
    with pytest.raises(LexiconError, match="2 words but 1"):
        Lexicon("x", "", ("a", "b"), np.array([1], np.uint8))


def test_a_cached_language_is_read_without_wordfreq(monkeypatch):
    first = Lexicon.from_language("ms")
    monkeypatch.setitem(sys.modules, "wordfreq", None)  # importing it would fail
    again = Lexicon.from_language("ms")
    assert again.words == first.words
    assert again.digest == first.digest


def test_characters_are_typed_alike_one_by_one_and_by_the_list():
    letters = frozenset("abcdeost")
    lexicon = Lexicon("test", "", ("Café", "don't", "straße", "œ", "東"), np.zeros(5, dtype=np.uint8))
    assert lexicon.spell(letters) == ["cae", "dot", "stasse", "oe", ""]
    assert lexicon.spell(letters) == ["".join(typed_letters(word, letters)) for word in lexicon.words]


def some_words(language, **bytes_of):
    return Lexicon(language, language, tuple(bytes_of), np.array([*bytes_of.values()], np.uint8))


def test_joined_lexicons_have_every_word_once_with_its_byte_in_each_language():
    english, german = some_words("en", die=120, house=150, rude=0), some_words("de", die=220, Haus=140)
    for _ in range(2):  # the second comes from the cache
        joined = join_lexicons([english, german])
        assert joined.words == ("die", "house", "rude", "Haus")
        assert joined.languages == ("en", "de")
        assert joined.language == "en,de"
        assert joined.name == "en + de"
        assert joined.frequencies.tolist() == [220, 150, 1, 140]
        assert joined.by_language.tolist() == [[120, 150, 1, 0], [220, 0, 0, 140]]
    more = joined.with_words(["glissando", "die"], 7)
    assert more.by_language[:, -1].tolist() == [7, 7]
    assert len(more) == 5
    again = join_lexicons([joined, some_words("es", die=10, casa=90), some_words("de", Maus=30, die=230)])
    assert again.languages == ("en", "de", "es")
    assert again.by_language.tolist() == [[120, 150, 1, 0, 0, 0], [230, 0, 0, 140, 0, 30], [10, 0, 0, 0, 90, 0]]


def test_what_cannot_be_joined():
    english = some_words("en", die=120)
    assert join_lexicons([english]) is english
    assert english.languages == ("en",)
    both = join_lexicons([english, some_words("en", house=3)])
    assert (both.languages, both.by_language, both.words) == (("en",), None, ("die", "house"))
    with pytest.raises(LexiconError, match="no lexicons to join"):
        join_lexicons([])
    with pytest.raises(LexiconError, match=r"bytes of shape \(1, 1\) for 2 languages"):
        Lexicon("x", "", ("a",), np.ones(1, np.uint8), ("en", "de"), np.ones((1, 1), np.uint8))


def cleaned(language, frequencies):
    return set(_from_frequencies("test", frequencies, language, 1e-7).words)


def test_words_of_another_script_are_dropped():
    assert cleaned("en", {"the": 0.05, "α": 1e-6, "mне": 1e-6, "don’t": 1e-3}) == {"the", "don’t"}
    assert cleaned("ru", {"мне": 0.05, "mне": 1e-6, "the": 1e-3}) == {"мне"}
    japanese = {"ひらがな": 0.05, "カタカナ": 0.01, "人々": 0.02}
    assert cleaned("ja", {**japanese, "the": 0.02}) == {*japanese}


def test_a_word_with_a_foreign_accent_stays_if_people_write_it_so():
    common = {"the": 0.05, "se": 2e-5, "in": 0.02, "cafe": 1e-5, "home": 1e-3}
    foreign = {"sé": 1e-7, "în": 1e-7, "café": 5e-6, "göttingen": 2e-7, "əə": 2e-7}
    assert cleaned("en", common | foreign) == {*common, "café", "göttingen"}
    assert cleaned("ro", {"în": 0.02, "in": 0.02, "ȋn": 2e-7}) == {"în", "in"}
    assert "ґрати" in cleaned("uk", {"грати": 0.05, "ґрати": 2e-7})


def test_letters_that_were_taken_apart_are_joined():
    assert cleaned("el", {"και": 0.05, "μαι\u0308\u0301ου": 1e-5}) == {"και", "μα\u0390ου"}


def test_wordfreq_without_foreign_letters():
    english = set(load_lexicon("en").words)
    assert english >= {"café", "naïve", "fiancé"}
    assert not english & {"în", "sé", "α", "à"}
    assert not {"mне", "the"} & set(load_lexicon("ru").words)


def test_a_languages_words_come_by_frequency_and_then_by_their_utf_8_bytes():
    lexicon = _from_frequencies("test", {"zoo": 1e-4, "über": 1e-4, "Über": 1e-4, "the": 0.05, "ape": 1e-4}, "de", 1e-7)
    assert lexicon.words == ("the", "ape", "zoo", "Über", "über")
    english = load_lexicon("en")
    keys = [(-byte, word.encode()) for word, byte in zip(english.words, english.frequencies.tolist(), strict=True)]
    assert keys == sorted(keys)


def test_a_packaged_list_is_a_language_like_wordfreqs():
    assert {"tok", "en"} <= set(available_languages())
    toki_pona = Lexicon.from_language("tok")
    assert (toki_pona.name, toki_pona.language) == ("packaged tok", "tok")
    assert 135 <= len(toki_pona) <= 150
    assert {"toki", "pona", "kijetesantakalu", "n"} <= set(toki_pona.words)
    assert set("".join(toki_pona.words)) == set("aeijklmnopstuw")
    assert set(toki_pona.words[:2]) == {"e", "li"}  # both as frequent as a byte can say
    assert toki_pona.frequencies.min() > 120  # on wordfreq's scale: none of so few words is rare
    assert language_source("tok") != language_source("en")
    assert "li 900" in language_source("tok")
