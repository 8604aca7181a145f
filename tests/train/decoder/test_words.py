from dataclasses import replace

import numpy as np
import pytest
from train import toy
from train.toy import typed

from glissando.corpus.packed import PackedCorpus
from glissando.errors import TrainingError
from glissando.lexicon import ADDED, Lexicon
from glissando.train.decoder.words import MAX_LETTERS, SpelledWords, only_layout, spellings


def lexicon(**bytes_: int) -> Lexicon:
    return Lexicon("toy", "", tuple(bytes_), np.array(list(bytes_.values()), dtype=np.uint8))


def test_words_typed_alike_are_one_with_the_higher_frequency():
    words = SpelledWords.build(lexicon(fed=90, Fed=120, bad=7), toy.LAYOUT, [], [])
    assert [words.spelling(number) for number in range(len(words))] == [typed("fed"), typed("bad")]
    assert words.frequencies.tolist() == [120, 7]


def test_corpus_words_join_and_queries_are_no_candidates():
    list_ = lexicon(fed=90, bad=30)
    words = SpelledWords.build(list_, toy.LAYOUT, [typed("ace"), typed("fed")], [typed("cab"), typed("ace")])
    assert words.candidates == 3
    assert words.find([typed("ace"), typed("cab"), typed("fee")]).tolist() == [2, 3, -1]
    assert words.frequencies[2:].tolist() == [ADDED, ADDED]


def test_rare_long_and_untypeable_words_are_left_out():
    long = "ab" * (MAX_LETTERS // 2)
    words = lexicon(**{"fed": 90, "bad": 5, long: 90, long + "a": 90, "xyz": 90, "aaaaaaaaaaaaaaaaaaa": 90})
    kept = SpelledWords.build(words, toy.LAYOUT, [], [], least=10)
    assert set(kept.numbers) == {typed("fed"), typed(long)}  # nineteen times a needs 37 frames


def test_an_empty_vocabulary_is_refused():
    with pytest.raises(TrainingError, match="spells 1 words on layout toy"):
        SpelledWords.build(lexicon(xyz=1, fed=2), toy.LAYOUT, [], [])


def test_spellings_of_rows(tmp_path):
    pack = PackedCorpus.open(toy.write_pack(tmp_path / "pack.npz", rows=20))
    assert spellings(pack, np.array([7, 3])) == [typed(pack.word(7)), typed(pack.word(3))]
    assert only_layout(pack, "it").name == "toy"
    pack.meta["layouts"].append({**pack.meta["layouts"][0], "name": "other"})
    with pytest.raises(TrainingError, match="it has swipes on toy, other; a decoder is of one layout"):
        only_layout(replace(pack, meta=dict(pack.meta)), "it")
