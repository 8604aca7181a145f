import gzip
import sys

import numpy as np
import pytest

from glissando.errors import LexiconError
from glissando.lexicon import ADDED, Lexicon, load_lexicon, type_character, typed_letters

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
