"""What the words before say: by hand on three sentences, abstaining, hostile texts, damaged files."""

import json
import struct
import time
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glissando.context import (
    MAGIC,
    TAIL,
    last_words,
    load_context,
    packaged_contexts,
    plain,
    read_context,
    split_words,
    write_context,
)
from glissando.errors import ContextError
from glissando.ngrams import build_context

TEXT = "the cat sat\nthe cat ran\na dog ran\n"


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """The context of three sentences, as a file gives it back."""
    folder = tmp_path_factory.mktemp("three")
    (folder / "three.txt").write_text(TEXT)
    write_context(build_context([folder / "three.txt"], {"language": "en"}, 10_000), folder / "three.context")
    return read_context(folder / "three.context")


def gains(context, text, *words):
    return context.after(text).gains(context.number(words)).tolist()


def test_three_sentences_by_hand(three):
    assert three.header["counts"] == {"words": 7, "pairs": 7, "triples": 1}
    assert three.header["sentences"] == 3
    numbers = three.number(["the", "cat", "sat", "dog"]).tolist()
    # Seven pairs, five of them seen once and two twice, so 5 / 9 is taken from each count.
    taken, share = 5 / 9, 2 / 9
    after_the = np.log((2 - taken) / 2 / share + taken / 2)
    assert three.ratio(numbers[1], numbers[0]) == pytest.approx(after_the, abs=1 / 32)
    assert three.ratio(numbers[3], numbers[0]) == pytest.approx(np.log(taken / 2), abs=1 / 32)
    # The triple of the beginning, the and cat was seen twice; four were seen once, and so 4 / 6 is taken.
    after_both = np.log((2 - 4 / 6) / 2 / share + 4 / 6 / 2 * np.exp(after_the))
    assert three.ratio(numbers[1], numbers[0], 0) == pytest.approx(after_both, abs=1 / 32)


def test_what_a_word_gains(three):
    outlook = three.after("the")
    assert outlook.trust == pytest.approx(1 / (1 + np.exp(-three.ratio(three.numbers["the"], 0))))
    (cat,) = gains(three, "the", "cat")
    ratio = np.exp(three.ratio(three.numbers["cat"], three.numbers["the"], 0))
    unseen = np.log(outlook.trust * np.exp(outlook.backoff) + 1 - outlook.trust)
    assert outlook.unseen == pytest.approx(unseen)
    assert cat == pytest.approx(np.log(outlook.trust * ratio + 1 - outlook.trust) - unseen)
    assert gains(three, "", "the") > gains(three, "", "dog")


def test_what_is_not_known_abstains(three):
    assert gains(three, "the", "zebra", "dog", "") == [0, 0, 0]  # unknown, never seen there, no word
    for text in ("zebra", "the zebra", "cat 7", "слово", "🙂 cat 🙂 9"):
        assert gains(three, text, "the", "cat", "zebra") == [0, 0, 0], text
    assert three.after("zebra").unseen == 0
    assert three.after("zebra cat").pair == -1
    assert gains(three, "zebra cat", "sat")[0] > 0  # the word before is enough


def test_words_that_do_not_follow_from_each_other_take_trust_away(three):
    assert three.after("the cat").trust > 0.5 > three.after("ran a").trust
    assert gains(three, "the cat", "sat") > gains(three, "dog cat", "sat")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["<s>"]),
        ("on my", ["<s>", "on", "my"]),
        ("I am on my", ["on", "my"]),
        ("He left. On my", ["<s>", "on", "my"]),
        ("He left. ", ["<s>"]),
        ("Really?! ", ["<s>"]),
        ("“Go!” he", ["<s>", "he"]),
        ("well, on", ["<s>", "well", "on"]),
        ("one\ntwo", ["<s>", "two"]),
        ("at 3.5", ["3", "5"]),
        ("see example.com now", ["com", "now"]),
        ("I’ll", ["<s>", "i'll"]),
        ("CAFE\u0301", ["<s>", "café"]),
        ("\0\x07on\x1bmy\0", ["<s>", "on", "my"]),
        ("   \t ", ["<s>"]),
        ("मैं घर", ["<s>", "मैं", "घर"]),
    ],
)
def test_last_words(text, words):
    assert last_words(text) == words


def test_french_elisions_are_words_of_their_own():
    assert split_words("C'est aujourd'hui l'heure", "fr") == ["c", "est", "aujourd'hui", "l", "heure"]
    assert split_words("don't", "fr") == ["don't"]
    assert last_words("à l'", "fr") == ["<s>", "à", "l"]


def test_a_long_text_is_cut_to_its_tail(three):
    assert last_words("dog " * 1000 + "the cat") == ["the", "cat"]
    assert last_words("x" * (TAIL + 1)) == []  # half a word is none
    assert last_words("y" * TAIL + " cat") == ["cat"]
    for text in (
        "a" * 10**6,
        "the cat " * 10**5,
        "." * 10**6,
        "'" * 10**6,
        "\n" * 10**6,
        "-a" * 10**6,
        "e\u0301" * 10**6,
    ):
        start = time.perf_counter()
        gains(three, text, "sat", "ran")
        assert time.perf_counter() - start < 0.05


@given(st.text())
def test_any_text_is_a_context(text):
    words = last_words(text)
    assert len(words) <= 3
    assert all(word == plain(word) for word in words if word != "<s>")


def test_states_follow_texts(three):
    state = three.state("")
    for count, word in enumerate(["the", "cat", "sat", "a", "dog"], 1):
        state = three.advance(state, three.numbers[word])
        assert state == three.state(" ".join(["the", "cat", "sat", "a", "dog"][:count]))


def test_a_file_says_what_it_holds(three, tmp_path):
    path = tmp_path / "again.context"
    write_context(three, path)
    again = read_context(path)
    assert again.header == three.header
    assert again.words == three.words
    for one, other in zip(again.tables, three.tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_damaged_file_is_one_clear_line(three, tmp_path):
    path = tmp_path / "one.context"
    write_context(three, path)
    good = path.read_bytes()
    flipped = bytearray(good)
    flipped[-3] ^= 1
    bad = [b"", b"PK", good[:7], good[:20], good[:100], good[:-1], good + b"\0" * 8, bytes(flipped), b"x" * 10_000]
    bad.append(MAGIC + struct.pack("<II", 2, 0) + good[16:])
    bad.append(MAGIC + struct.pack("<II", 1, 4) + b"null")
    for data in bad:
        path.write_bytes(data)
        with pytest.raises(ContextError, match=r"one\.context") as caught:
            read_context(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(ContextError, match="cannot read"):
        read_context(tmp_path / "none.context")
    with pytest.raises(ContextError, match="cannot read"):
        read_context(tmp_path)


def test_counts_that_contradict_each_other_are_refused(three, tmp_path):
    """Compiled code reads the arrays, so that a file with a right checksum must not lead it outside of them."""
    path = tmp_path / "one.context"
    write_context(three, path)
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    header, body = json.loads(data[16 : 16 + size]), data[16 + size :]
    refused = 0
    for place in range(0, len(body), 4):
        changed = body[:place] + b"\xff\xff\xff\x7f" + body[place + 4 :]
        head = json.dumps({**header, "crc32": zlib.crc32(changed)}).encode()
        head += b" " * (-len(head) % 8)
        path.write_bytes(MAGIC + struct.pack("<II", 1, len(head)) + head + changed)
        try:
            context = read_context(path)
            for text in ("", "the", "the cat", "a dog"):
                context.after(text).gains(np.arange(7, dtype=np.int32))
        except ContextError:
            refused += 1
    assert refused > len(body) / 16  # most of the file; a ratio or the letters of a word may be any


def test_packaged_contexts():
    assert packaged_contexts() == ("de", "en", "es", "fr")
    assert load_context(None) is None
    assert load_context("auto", "ru") is None
    assert load_context("auto", "fr").language == "fr"
    with pytest.raises(ContextError, match=r"no context 'xx'; packaged are de, en, es, fr; or auto, or a \.context"):
        load_context("xx")


def test_the_packaged_english_knows_english():
    english = load_context("en")
    start = time.perf_counter()
    assert load_context("en").numbers
    assert time.perf_counter() - start < 0.5  # 20 ms on a quiet machine
    assert english.header["sources"][0]["licence"] == "CC BY 2.0 FR"
    for text, more, less in (("on my", "way", "wat"), ("I", "feel", "fell"), ("he", "has", "gas"), ("", "the", "thee")):
        first, second = gains(english, text, more, less)
        assert first > second, text
