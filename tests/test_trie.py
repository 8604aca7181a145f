from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glissando.beam import Pruning, search
from glissando.errors import LexiconError
from glissando.lexicon import Lexicon
from glissando.trie import ARRAYS, NO_LETTER, Affixes, build_trie, grow_trie


def words_at(trie, lexicon, typed):
    node = trie.find(typed)
    return [lexicon.words[i] for i in trie.words[trie.endings[node] : trie.endings[node + 1]]] if node >= 0 else None


def test_three_words_by_hand():
    lexicon = Lexicon.from_counts({"ab": 3, "a": 2, "b": 1})
    trie = build_trie(lexicon, ("a", "b"))
    assert len(trie) == 4  # root, a, b, ab
    assert trie.depths.tolist() == [0, 1, 1, 2]
    assert words_at(trie, lexicon, "ab") == ["ab"]
    assert trie.find("bb") == -1
    assert words_at(trie, lexicon, "") == []


@settings(max_examples=50, deadline=None)
@given(st.sets(st.text("abcé'", min_size=1, max_size=6), min_size=1, max_size=30))
def test_every_typeable_word_is_found_and_no_other(words):
    lexicon = Lexicon("test", "", tuple(sorted(words)), np.full(len(words), 7, np.uint8))
    letters = ("a", "b", "c", "e")
    typed = lexicon.spell(frozenset(letters))
    if not any(typed):
        with pytest.raises(LexiconError, match="can be typed"):
            build_trie(lexicon, letters)
        return
    trie = build_trie(lexicon, letters)
    for word, spelling in zip(lexicon.words, typed, strict=True):
        assert not spelling or word in words_at(trie, lexicon, spelling)
    assert len(trie.words) == sum(1 for spelling in typed if spelling)
    assert len(trie) == 1 + len({spelling[:i] for spelling in typed for i in range(1, len(spelling) + 1)})


def test_letters_must_be_distinct():
    with pytest.raises(LexiconError, match="distinct"):
        build_trie(Lexicon.from_counts({"a": 1}), ("a", "a"))


def test_a_real_list_is_small(data):
    lexicon = Lexicon.from_file(data / "wordlists" / "en_wordlist.combined.gz")
    trie = build_trie(lexicon, tuple("abcdefghijklmnopqrstuvwxyz"))
    assert len(lexicon) > 160_000
    assert sum(getattr(trie, name).nbytes for name in ARRAYS) < 10e6
    assert words_at(trie, lexicon, "dont") == ["don't"]


def test_edges_say_what_the_arrays_say():
    trie = build_trie(Lexicon.from_counts({"abba": 3, "ab": 2, "cab": 1}), ("a", "b", "c"))
    np.testing.assert_array_equal(trie.edges >> 9, trie.children)
    np.testing.assert_array_equal(trie.edges[:-1] & 255, trie.labels)
    np.testing.assert_array_equal((trie.edges[:-1] >> 8) & 1, np.diff(trie.endings) > 0)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text("abcé", min_size=1, max_size=6), st.integers(0, 255), min_size=1, max_size=30))
def test_the_best_byte_is_the_highest_of_all_words_below(bytes_of):
    lexicon = Lexicon("test", "", tuple(bytes_of), np.array([*bytes_of.values()], np.uint8))
    trie = build_trie(lexicon, ("a", "b", "c", "e"))
    typed = lexicon.spell(frozenset(trie.letters))
    for prefix in {spelling[:end] for spelling in typed for end in range(len(spelling) + 1)}:
        below = [byte for byte, spelling in zip(bytes_of.values(), typed, strict=True) if spelling.startswith(prefix)]
        assert trie.best[trie.find(prefix)] == max(below)
    assert (trie.best[1:] <= trie.best[trie.parents[1:]]).all()


def test_arrays_of_other_kinds_are_refused_before_compiled_code_reads_them():
    trie = build_trie(Lexicon.from_counts({"ab": 2}), ("a", "b"))
    with pytest.raises(LexiconError, match="a trie's parents must be contiguous int32, got int64"):
        replace(trie, parents=trie.parents.astype(np.int64))


def test_the_words_of_some_nodes_with_their_owners():
    lexicon = Lexicon.from_counts({"its": 5, "it's": 50, "it": 9, "i": 1})
    trie = build_trie(lexicon, ("i", "t", "s"))
    nodes = np.array([trie.find("its"), -1, trie.find(""), trie.find("i")])
    owners, words = trie.words_at(nodes)
    assert owners.tolist() == [0, 0, 3]
    assert [lexicon.words[word] for word in words] == ["it's", "its", "i"]
    assert [len(column) for column in trie.words_at(np.array([-1, -1]))] == [0, 0]


def test_nodes_are_spelled():
    trie = build_trie(Lexicon.from_counts({"ab": 3, "ba": 2, "b": 1}), ("a", "b"))
    nodes = np.array([[trie.find("ba"), -1], [0, trie.find("b")]])
    spelled = trie.spell(nodes, 3)
    assert spelled.tolist() == [[[1, 0, NO_LETTER], [NO_LETTER] * 3], [[NO_LETTER] * 3, [1, NO_LETTER, NO_LETTER]]]


LETTERS = st.text("abc", max_size=3)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.text("abcé'", min_size=1, max_size=6), st.integers(0, 255), min_size=1, max_size=30),
    LETTERS,
    LETTERS,
)
def test_a_restricted_trie_is_that_of_the_words_that_begin_and_end_so(bytes_of, prefix, suffix):
    lexicon = Lexicon("test", "", ("a", *bytes_of), np.array([9, *bytes_of.values()], np.uint8))
    trie = build_trie(lexicon, ("a", "b", "c", "e"))
    part = trie.restricted(Affixes(trie.labels_of(prefix), trie.labels_of(suffix)), lexicon.frequencies)
    typed = lexicon.spell(frozenset(trie.letters))
    kept = [at for at, one in enumerate(typed) if one and one.startswith(prefix) and one.endswith(suffix)]
    assert sorted(part.words.tolist()) == kept
    for at in kept:
        assert lexicon.words[at] in words_at(part, lexicon, typed[at])
    prefixes = {typed[at][:end] for at in kept for end in range(1, len(typed[at]) + 1)}
    assert len(part) == 1 + len(prefixes)
    for one in prefixes:
        below = [lexicon.frequencies[at] for at in kept if typed[at].startswith(one)]
        assert part.best[part.find(one)] == max(below)
        assert part.depths[part.find(one)] == len(one)
    order = [part.endings.tolist(), part.children.tolist()]
    assert all(array == sorted(array) for array in order)


def test_a_trie_that_no_word_is_left_of_can_be_searched():
    lexicon = Lexicon.from_counts({"ab": 3, "ba": 2})
    trie = build_trie(lexicon, ("a", "b"))
    none = trie.restricted(Affixes((1, 1)), lexicon.frequencies)
    assert len(none) == 1
    emissions = np.log(np.full((8, 3), 1 / 3, dtype=np.float32))
    assert len(search(emissions, none, Pruning(0.2, 1.0)).nodes) == 0
    some = search(emissions, trie.restricted(Affixes((1,)), lexicon.frequencies), Pruning(0.2, 1.0))
    assert len(some.nodes) == 1


def test_labels_of_what_is_tapped():
    trie = build_trie(Lexicon.from_counts({"abc": 3}), ("a", "b", "c"))
    assert trie.labels_of("") == ()
    assert trie.labels_of("B'Á-c") == (1, 0, 2)
    with pytest.raises(LexiconError, match="'ж' of 'aж' is not on the layout, whose letters are abc"):
        trie.labels_of("aж")
    with pytest.raises(LexiconError, match="'3'"):
        trie.labels_of("3")


def test_a_trie_grows_from_labels_alone():
    labels = np.array([0, 1, 0, 0, 1], dtype=np.uint8)  # ab, nothing, a, ab
    trie = grow_trie(("a", "b"), labels, np.array([2, 0, 1, 2]), np.array([5, 9, 7, 6], dtype=np.uint8))
    assert trie.words.tolist() == [2, 3, 0]  # by node, then by byte
    assert trie.best.tolist() == [7, 7, 6]
    empty = grow_trie(("a", "b"), labels[:0], np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8))
    assert len(empty) == 1
    assert empty.words_at(np.array([0, -1]))[1].tolist() == []
    with pytest.raises(LexiconError, match="distinct"):
        grow_trie(("a", "a"), labels[:0], np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8))
