from dataclasses import replace

import numpy as np
import pytest
import torch

from glissando.corpus.packed import PackedCorpus
from glissando.errors import CorpusError, TrainingError
from glissando.layout import Layout
from glissando.train.batches import TrainingSet, read_ahead

CPU = torch.device("cpu")
LAYOUTS = [Layout.from_rows("small", ["abc", "de"]), Layout.from_rows("large", ["abcd", "efgh", "ijkl", "mn"])]


def make_pack(words: list[str], layouts: list[int] | None = None, seed: int = 0) -> PackedCorpus:
    """Swipes of words, with random paths."""
    layouts = layouts or [0] * len(words)
    targets = [[LAYOUTS[i].letters.index(char) for char in word] for word, i in zip(words, layouts, strict=True)]
    known = sorted(set(words))
    paths = np.random.default_rng(seed).integers(0, 65536, (len(words), 2, 64), dtype=np.uint16)
    return PackedCorpus(
        paths=paths,
        targets=np.concatenate(targets).astype(np.uint8),
        offsets=np.cumsum([0, *map(len, words)]),
        layouts=np.array(layouts, dtype=np.uint8),
        sessions=np.zeros(len(words), dtype=np.int32),
        words=np.array([known.index(word) for word in words], dtype=np.int32),
        meta={"layouts": [layout.to_dict() for layout in LAYOUTS], "words": known},
    )


def test_rows_come_back_as_they_were_packed():
    pack = make_pack(["bad", "ca", "nil"], [0, 0, 1])
    corpus = TrainingSet.of(pack, 32)
    (batch,) = corpus.walk(8, CPU)
    torch.testing.assert_close(batch.path, torch.from_numpy(pack.paths.astype(np.float32) / 65535))
    assert batch.targets.tolist() == [[1, 0, 3], [2, 0, 0], [13, 8, 11]]
    assert batch.lengths.tolist() == [3, 2, 3]
    assert batch.rows.tolist() == [2, 2, 4]
    assert batch.mask.sum(1).tolist() == [5, 5, 14]
    assert (batch.keys[0, 5:] == 0).all()
    torch.testing.assert_close(batch.keys[2, 13, :2], torch.tensor(LAYOUTS[1].centres[13]))
    assert batch.path.dtype == torch.float32
    assert {part.dtype for part in (batch.targets, batch.lengths, batch.rows)} == {torch.int64}


def test_words_that_do_not_fit_the_frames_are_dropped():
    # "bb" needs three frames, "abc" three, "aabb" six; the doubled letter across two words counts for neither.
    corpus = TrainingSet.of(make_pack(["bb", "ba", "aabb", "abc", "cd"]), 3)
    assert corpus.kept.tolist() == [0, 1, 3, 4]
    assert (corpus.longest, len(corpus)) == (3, 4)
    with pytest.raises(TrainingError, match="2 rows, none fits 1 frames"):
        TrainingSet.of(make_pack(["bb", "ba"]), 1)


def test_an_error_while_reading_ahead_is_raised_where_it_is_read():
    def broken():
        yield 1
        raise CorpusError("the disk is gone")

    stream = read_ahead(broken(), 2)
    assert next(stream) == 1
    with pytest.raises(CorpusError, match="the disk is gone"):
        next(stream)


def test_two_parts_of_the_people_share_nobody_and_leave_nobody_out():
    pack = make_pack(["ab", "bee"] * 40)
    pack = replace(pack, sessions=np.repeat(np.arange(20, dtype=np.int32), 4))
    corpus = TrainingSet.of(pack, 32)
    low, high = corpus.of_people(0, 0.4, seed=1), corpus.of_people(0.4, 1, seed=1)
    people = [set(pack.sessions[part.kept]) for part in (low, high)]
    assert not people[0] & people[1]
    assert people[0] | people[1] == set(range(20))
    assert len(low) + len(high) == len(corpus)
    assert 0 < len(low) < len(corpus)
    assert corpus.of_people(0, 1, seed=1) is corpus
    with pytest.raises(TrainingError, match="no person falls in the part"):
        corpus.of_people(0, 1e-9, seed=1)
