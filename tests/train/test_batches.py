from dataclasses import replace

import numpy as np
import pytest
import torch

from glissando.corpus.packed import PackedCorpus
from glissando.errors import CorpusError, TrainingError
from glissando.layout import Layout
from glissando.train.batches import Batches, Corpus, Stored, layout_tensors, read_ahead
from glissando.train.order import Order, mix_seed, word_weights

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


def make_corpus(count: int, frames: int = 32) -> Corpus:
    return Corpus.of(make_pack([["ab", "cade", "bee"][i % 3] for i in range(count)]), frames)


def test_rows_come_back_as_they_were_packed():
    pack = make_pack(["bad", "ca", "nil"], [0, 0, 1])
    corpus = Corpus.of(pack, 32)
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


def test_words_that_do_not_fit_the_frames_are_dropped_and_counted():
    # "bb" needs three frames, "abc" three, "aabb" six; the doubled letter across two words counts for neither.
    corpus = Corpus.of(make_pack(["bb", "ba", "aabb", "abc", "cd"]), 3)
    assert corpus.kept.tolist() == [0, 1, 3, 4]
    assert (corpus.dropped, corpus.longest, len(corpus)) == (1, 3, 4)
    with pytest.raises(TrainingError, match="2 rows, none fits 1 frames"):
        Corpus.of(make_pack(["bb", "ba"]), 1)


def test_an_epoch_deals_out_every_row_once_and_the_next_in_another_order():
    order = Order(12, 4, seed=3)
    first, second = order.epoch(0), order.epoch(1)
    assert first.shape == (3, 4)
    assert sorted(first.flatten().tolist()) == list(range(12))
    assert first.tolist() != second.tolist()
    assert torch.equal(Order(12, 4, seed=3).epoch(0), first)
    assert not torch.equal(Order(12, 4, seed=4).epoch(0), first)


def test_processes_share_each_step_without_overlap():
    alone = Order(50, 8, seed=1)
    parts = [Order(50, 8, seed=1, rank=rank, world=2) for rank in range(2)]
    assert torch.equal(torch.cat([part.epoch(2) for part in parts], dim=1), alone.epoch(2))


def test_impossible_orders_are_refused():
    with pytest.raises(TrainingError, match="does not divide among 3"):
        Order(50, 8, world=3)
    with pytest.raises(TrainingError, match="5 usable swipes, less than one batch of 8"):
        Order(5, 8)


def test_word_weights_balance_words():
    counts = np.array([1, 9, 9, 9, 9, 9, 9, 9, 9, 9])
    assert word_weights(counts, 1.0) is None
    even = Order(10, 10, weights=word_weights(counts, 0.0))
    rows = torch.cat([even.epoch(epoch).flatten() for epoch in range(2000)])
    assert (rows == 0).float().mean() == pytest.approx(0.5, abs=0.01)
    root = Order(10, 10, weights=word_weights(counts, 0.5))
    rows = torch.cat([root.epoch(epoch).flatten() for epoch in range(2000)])
    assert (rows == 0).float().mean() == pytest.approx(1 / (1 + 9**0.5), abs=0.01)
    assert torch.equal(root.epoch(5), root.epoch(5))


def test_word_counts_count_kept_rows():
    corpus = Corpus.of(make_pack(["ab", "ab", "cc", "ab"]), 2)
    assert corpus.word_counts.tolist() == [3, 3, 3]


def collect(batches: Batches, start: int, count: int) -> list[tuple]:
    stream = batches.since(start)
    found = [next(stream) for _ in range(count)]
    stream.close()
    return found


@pytest.mark.parametrize("resident", [True, False])
def test_batches_can_start_anywhere(resident):
    corpus = make_corpus(20)
    batches = Batches(corpus, Order(20, 6, seed=2), CPU, resident=resident)
    whole = collect(batches, 0, 8)  # three steps to the epoch
    tail = collect(batches, 5, 3)
    for (batch, rows), (again, rows_again) in zip(whole[5:], tail, strict=True):
        assert torch.equal(rows, rows_again)
        assert all(torch.equal(a, b) for a, b in zip(batch, again, strict=True))


def test_streaming_from_disk_gives_what_memory_gives(tmp_path):
    pack = make_pack([["ab", "cade", "bee"][i % 3] for i in range(30)])
    np.save(tmp_path / "paths.npy", pack.paths)
    mapped = np.load(tmp_path / "paths.npy", mmap_mode="r")
    streamed = Corpus.of(PackedCorpus(**{**vars(pack), "paths": mapped}), 32)
    order = Order(30, 7, seed=4)
    here = collect(Batches(Corpus.of(pack, 32), order, CPU), 2, 6)
    there = collect(Batches(streamed, order, CPU, resident=False), 2, 6)
    for (batch, rows), (other, other_rows) in zip(here, there, strict=True):
        assert torch.equal(rows, other_rows)
        assert all(torch.equal(a, b) for a, b in zip(batch, other, strict=True))


def test_an_error_while_reading_ahead_is_raised_where_it_is_read():
    def broken():
        yield 1
        raise CorpusError("the disk is gone")

    stream = read_ahead(broken(), 2)
    assert next(stream) == 1
    with pytest.raises(CorpusError, match="the disk is gone"):
        next(stream)


def test_layouts_are_padded_to_the_largest():
    keys, mask, rows = layout_tensors(LAYOUTS)
    assert keys.shape == (2, 14, 4)
    assert mask.sum(1).tolist() == [5, 14]
    assert rows.tolist() == [2, 4]


def test_seeds_differ_and_repeat():
    seeds = {mix_seed(a, b) for a in range(30) for b in range(30)}
    assert len(seeds) == 900
    assert mix_seed(1, 2) == mix_seed(1, 2)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_two_parts_of_the_people_share_nobody_and_leave_nobody_out():
    pack = make_pack(["ab", "bee"] * 40)
    pack = replace(pack, sessions=np.repeat(np.arange(20, dtype=np.int32), 4))
    corpus = Corpus.of(pack, 32)
    low, high = corpus.of_people(0, 0.4, seed=1), corpus.of_people(0.4, 1, seed=1)
    people = [set(pack.sessions[part.kept]) for part in (low, high)]
    assert not people[0] & people[1]
    assert people[0] | people[1] == set(range(20))
    assert len(low) + len(high) == len(corpus)
    assert 0 < len(low) < len(corpus)
    assert corpus.of_people(0, 1, seed=1) is corpus
    with pytest.raises(TrainingError, match="nobody"):
        corpus.of_people(0, 1e-9, seed=1)


def test_another_corpus_has_another_digest():
    assert make_corpus(20).digest == make_corpus(20).digest
    assert make_corpus(20).digest != make_corpus(21).digest
    assert Corpus.of(make_pack(["ab"], seed=1), 9).digest != Corpus.of(make_pack(["ab"], seed=2), 9).digest


def test_stored_rows_are_small():
    stored = make_corpus(10).read(np.arange(10))
    assert isinstance(stored, Stored)
    assert [part.element_size() for part in stored] == [2, 1, 1, 1]
