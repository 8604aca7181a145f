import json
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glissando import vocabulary as module
from glissando.errors import GlissandoError, VocabularyError
from glissando.lexicon import Lexicon
from glissando.trie import ARRAYS, build_trie
from glissando.vocabulary import FIRST, HALF_LIFE, HIGHEST, MAX_LAYOUTS, MAX_WORDS, Vocabulary

TODAY = date(2026, 11, 16)
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")


def vocabulary_of(*words):
    vocabulary = Vocabulary()
    for word in words:
        vocabulary.learn(word, today=TODAY)
    return vocabulary


def found(vocabulary, typed, letters=LETTERS):
    trie = vocabulary.trie(letters, TODAY)
    return {vocabulary.words[index] for index in trie.words_at(np.array([trie.find(typed)]))[1]}


def test_words_are_learned_and_forgotten():
    vocabulary = vocabulary_of("taigang", "Taigang", "cafe\u0301")
    assert vocabulary.words == ("taigang", "Taigang", "café")  # capitals are kept, accents are composed
    assert "cafe\u0301" in vocabulary
    assert "cafe" not in vocabulary
    assert 3 not in vocabulary
    assert vocabulary.forget("taigang")
    assert not vocabulary.forget("taigang")
    assert vocabulary.forget("cafe\u0301")
    assert vocabulary.words == ("Taigang",)
    assert len(vocabulary) == 1


def test_a_word_used_once_is_rare_and_use_makes_it_grow_by_the_logarithm():
    vocabulary = vocabulary_of("once")
    vocabulary.learn("often", 10, TODAY)
    for _ in range(10):
        vocabulary.learn("apart", today=TODAY)
    vocabulary.learn("always", 1e9, TODAY)
    assert vocabulary.bytes(TODAY) == pytest.approx([FIRST, FIRST + 60, FIRST + 60, HIGHEST])


def test_a_common_word_stays_ahead_of_one_typed_once(data):
    english = Lexicon.from_file(data / "wordlists" / "en_wordlist.combined.gz")
    byte = dict(zip(english.words, english.frequencies.tolist(), strict=True))
    assert FIRST < byte["house"] < HIGHEST < byte["the"]


def test_disuse_halves_a_count():
    vocabulary = Vocabulary()
    vocabulary.learn("ten", 10, TODAY)
    later = TODAY + timedelta(days=HALF_LIFE)
    assert vocabulary.bytes(later) == pytest.approx([FIRST + 60 * np.log10(5)])
    vocabulary.learn("ten", 5, later)  # 10 of long ago count as 5
    assert vocabulary.bytes(later) == pytest.approx([FIRST + 60])
    assert vocabulary.bytes(later + timedelta(days=50 * 365)) == [0]


def test_a_clock_that_is_set_back_changes_nothing():
    vocabulary = Vocabulary()
    vocabulary.learn("ten", 10, TODAY)
    before = TODAY - timedelta(days=4000)
    assert vocabulary.bytes(before) == pytest.approx(vocabulary.bytes(TODAY))
    vocabulary.learn("ten", 1, before)
    assert vocabulary.bytes(TODAY) == pytest.approx([FIRST + 60 * np.log10(11)])


@pytest.mark.parametrize(
    "bad", ["", "two words", "a\n", "123", "-", "x" * 49, "a\ud800", None, 7, b"word", "\u202e"], ids=ascii
)
def test_what_is_no_word_is_refused(bad):
    vocabulary = vocabulary_of("good")
    with pytest.raises(VocabularyError, match=r"is not a word: it needs a letter|a word is a string"):
        vocabulary.learn(bad)
    assert vocabulary.words == ("good",)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "3", True, None])
def test_what_is_no_count_is_refused(bad):
    vocabulary = Vocabulary()
    with pytest.raises(VocabularyError, match="count must be a number above 0"):
        vocabulary.learn("word", bad)
    assert not len(vocabulary)


def test_the_weakest_word_goes_when_there_is_no_room(monkeypatch):
    monkeypatch.setattr(module, "MAX_WORDS", 3)
    vocabulary = Vocabulary()
    vocabulary.learn("strong", 9, TODAY)
    vocabulary.learn("old", 2, TODAY - timedelta(days=2 * HALF_LIFE))
    vocabulary.learn("new", 1, TODAY)
    assert found(vocabulary, "old") == {"old"}
    vocabulary.learn("strong", 1, TODAY)  # a known word needs no room
    vocabulary.learn("fourth", 0.1, TODAY)
    assert set(vocabulary.words) == {"strong", "new", "fourth"}  # 2 faded to a half, which is less than 1
    assert found(vocabulary, "old") == set()
    assert found(vocabulary, "fourth") == {"fourth"}
    vocabulary.learn("fifth", 1, TODAY)
    assert set(vocabulary.words) == {"strong", "new", "fifth"}
    assert dict(zip(vocabulary.words, vocabulary.bytes(TODAY), strict=True))["strong"] == pytest.approx(FIRST + 60)


def test_ten_thousand_words_in_a_row_and_some_more():
    vocabulary = Vocabulary()
    words = ["a" + np.base_repr(number, 26).lower().translate(str.maketrans("0123456789", "qrstuvwxyz"))
             for number in range(MAX_WORDS + 5)]  # fmt: skip
    for word in words:
        vocabulary.learn(word, today=TODAY)
    assert len(vocabulary) == MAX_WORDS
    trie = vocabulary.trie(LETTERS, TODAY)
    assert sorted(trie.words) == list(range(MAX_WORDS))
    assert found(vocabulary, words[-1]) == {words[-1]}


def test_the_trie_is_that_of_a_lexicon_with_the_same_bytes():
    vocabulary = vocabulary_of("its", "It's", "café", "zoo", "…a")
    vocabulary.learn("zoo", 20, TODAY)
    vocabulary.learn("its", 2, TODAY)
    frequencies = np.rint(vocabulary.bytes(TODAY)).astype(np.uint8)
    expected = build_trie(Lexicon("own", "", vocabulary.words, frequencies), LETTERS)
    trie = vocabulary.trie(LETTERS, TODAY)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(trie, name), getattr(expected, name))
    assert trie.best[0] == frequencies.max()


def test_the_trie_is_made_again_only_after_a_change_or_on_another_day():
    vocabulary = vocabulary_of("abba")
    trie = vocabulary.trie(LETTERS, TODAY)
    assert vocabulary.trie(LETTERS, TODAY) is trie
    faded = vocabulary.trie(LETTERS, TODAY + timedelta(days=HALF_LIFE))
    assert faded.best[0] < trie.best[0]
    vocabulary.learn("baab", today=TODAY)
    assert found(vocabulary, "baab") == {"baab"}
    vocabulary.forget("abba")
    assert found(vocabulary, "abba") == set()
    assert found(vocabulary, "baab") == {"baab"}  # its index moved


def test_words_that_a_layout_cannot_type_are_left_out_of_its_trie():
    vocabulary = vocabulary_of("мир", "hello", "\ufdfa" * 48)  # the last is one sign for many letters
    assert found(vocabulary, "hello") == {"hello"}
    assert found(vocabulary, "мир", tuple("мир")) == {"мир"}
    empty = vocabulary.trie(("x", "y"), TODAY)
    assert len(empty) == 1
    assert not len(empty.words)
    arabic = tuple(sorted(set("صلى الله عليه وسلم") - {" "}))
    assert not len(vocabulary.trie(arabic, TODAY).words)  # too many letters for a trie
    assert len(Vocabulary().trie(LETTERS, TODAY)) == 1
    with pytest.raises(GlissandoError, match="distinct"):
        vocabulary.trie(("a", "a"), TODAY)


def test_any_number_of_layouts_share_a_vocabulary():
    vocabulary = vocabulary_of("abc")
    for turn in range(3 * MAX_LAYOUTS):
        assert found(vocabulary, "abc", ("a", "b", "c", chr(ord("d") + turn))) == {"abc"}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["ab", "Ab", "bá", "c", "cc"]), st.sampled_from([None, 0.5, 3.0]))))
def test_after_any_changes_words_bytes_and_trie_belong_together(changes):
    vocabulary, counts = Vocabulary(), {}
    for word, count in changes:
        if count is None:
            assert vocabulary.forget(word) == (counts.pop(word, None) is not None)
        else:
            vocabulary.learn(word, count, TODAY)
            counts[word] = counts.get(word, 0) + count
        trie = vocabulary.trie(("a", "b", "c"), TODAY)
    assert set(vocabulary.words) == set(counts)
    bytes_ = dict(zip(vocabulary.words, vocabulary.bytes(TODAY), strict=True))
    assert bytes_ == pytest.approx({word: min(FIRST + 60 * np.log10(n), HIGHEST) for word, n in counts.items()})
    assert not changes or sorted(trie.words) == list(range(len(counts)))


def test_a_vocabulary_comes_back_as_it_was(tmp_path):
    vocabulary = vocabulary_of("Taigang", "naïve", "мир")
    vocabulary.learn("мир", 2.5, TODAY - timedelta(days=30))
    path = tmp_path / "new" / "mine.json"
    vocabulary.save(path)
    again = Vocabulary.load(path)
    assert again.words == vocabulary.words
    assert again.bytes(TODAY).tolist() == vocabulary.bytes(TODAY).tolist()
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["version"] == 1
    assert data["words"]["Taigang"] == {"count": 1.0, "used": "2026-11-16"}
    Vocabulary().save(path)
    assert not len(Vocabulary.load(path))


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    vocabulary_of("old").save(path)
    monkeypatch.setattr("os.fsync", lambda number: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(GlissandoError, match=r"cannot write .*mine.json: No space left"):
        vocabulary_of("new").save(path)
    assert Vocabulary.load(path).words == ("old",)


def entry(**changes):
    return {"version": 1, "words": {"word": {"count": 1.0, "used": "2026-11-16"} | changes}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b'{"version": 1, "words": {"a', "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "must be a JSON object"),
        (b"{}", "has version None; this glissando reads 1"),
        ({"version": 2, "words": {}}, "has version 2; this glissando reads 1"),
        ({"version": 1}, "has no object of words"),
        ({"version": 1, "words": ["word"]}, "has no object of words"),
        ({"version": 1, "words": {"good": {"count": 1, "used": "2026-11-16"}, "two words": {}}}, "must have a count"),
        ({"version": 1, "words": {"two words": {"count": 1, "used": "2026-11-16"}}}, "'two words' is not a word"),
        ({"version": 1, "words": {"word": 3}}, "'word' must have a count and a day of last use"),
        (entry(count=-1), "count must be a number above 0, got -1"),
        (entry(count=float("nan")), "count must be a number above 0, got nan"),
        (entry(count="many"), "count must be a number above 0, got 'many'"),
        (entry(used="yesterday"), "was used on 'yesterday', which is no day"),
        (entry(used=20261116), "was used on 20261116, which is no day"),
        (entry(more=1), "and nothing else"),
        (b'{"version": 1, "words": {"a\\ud800": {"count": 1, "used": "2026-11-16"}}}', "is not a word"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_by_name(tmp_path, content, message):
    path = tmp_path / "mine.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(VocabularyError, match=r"mine\.json") as error:
        Vocabulary.load(path)
    assert message in str(error.value)
    assert len(str(error.value)) < 500


def test_a_file_too_large_or_missing_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    with pytest.raises(VocabularyError, match=r"cannot read vocabulary .*mine.json: No such file"):
        Vocabulary.load(path)
    monkeypatch.setattr(module, "MAX_WORDS", 2)
    vocabulary_of("a", "b").save(path)
    monkeypatch.setattr(module, "MAX_WORDS", 1)
    with pytest.raises(VocabularyError, match="has 2 words; it may have 1"):
        Vocabulary.load(path)
    monkeypatch.setattr(module, "MAX_BYTES", 20)
    with pytest.raises(VocabularyError, match="longer than 20 bytes"):
        Vocabulary.load(path)


def test_the_longest_words_fit_into_a_file_that_is_read(tmp_path):
    vocabulary = Vocabulary()
    for number in range(200):
        vocabulary.learn("𝒜" * 45 + chr(0x4E00 + number), 1 / 3, TODAY)  # four bytes each
    path = tmp_path / "mine.json"
    vocabulary.save(path)
    assert path.stat().st_size * MAX_WORDS / 200 < module.MAX_BYTES
