import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from glissando.errors import TrainingError
from glissando.train.batches import Batch, Batches, Corpus
from glissando.train.losses import needed_frames
from glissando.train.mix import Mix, Shares, alignments, words_to_make
from glissando.train.order import Order
from glissando.train.pace import PaceConfig

_SPEC = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
toy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Corpus:
    return Corpus.open(toy.write_pack(tmp_path_factory.mktemp("pack") / "pack.npz"), 32)


def make_mix(corpus: Corpus, batch: int = 20, rank: int = 0, **settings) -> tuple[Mix, Shares]:
    config = toy.toy_config(batch=batch, **settings)
    shares = Shares.of(config, batch)
    return Mix(corpus.with_room(config.extra_keys), config, shares, CPU, rank), shares


def batch_at(corpus: Corpus, mix: Mix, shares: Shares, step: int) -> tuple[Batch, Batch]:
    """A step's real rows and its training batch."""
    corpus = corpus.with_room(mix.config.extra_keys)
    drawn, index = next(Batches(corpus, Order(len(corpus), shares.drawn), CPU).since(step))
    return drawn, mix(drawn, index, step)


def test_shares_are_rounded_to_rows():
    config = toy.toy_config(rearranged=0.5, synthetic=0.15)
    assert Shares.of(config, 20) == Shares(real=7, rearranged=10, synthetic=3)
    assert Shares.of(config, 20).drawn == 17
    everything = Shares.of(toy.toy_config(synthetic=1.0), 20)
    assert everything == Shares(real=0, rearranged=0, synthetic=20)
    assert everything.drawn == 20


def test_without_shares_the_batch_is_the_corpus(corpus):
    mix, shares = make_mix(corpus)
    drawn, mixed = batch_at(corpus, mix, shares, 3)
    assert all(torch.equal(a, b) for a, b in zip(drawn, mixed, strict=True))


def test_real_rows_stay_and_the_others_leave_their_layout(corpus):
    mix, shares = make_mix(corpus, rearranged=0.5, synthetic=0.25, synthetic_grids=1.0)
    drawn, mixed = batch_at(corpus, mix, shares, 2)
    assert len(mixed.path) == 20
    for kept, row in zip(mixed, drawn, strict=True):
        assert torch.equal(kept[:5], row[10:15])
    moved = mixed.keys[5:15]
    assert not torch.allclose(moved[..., :2], drawn.keys[:10, :, :2], atol=0.02)
    assert torch.equal(mixed.targets[5:15], drawn.targets[:10])
    assert not torch.allclose(mixed.keys[15:, :, :2], corpus.keys[0, :, :2].expand(5, -1, -1), atol=0.02)
    assert mixed.mask.all()
    assert mixed.path.min() >= 0
    assert mixed.path.max() <= 1


def test_extra_keys_widen_every_part_and_none_is_ever_a_target(corpus):
    mix, shares = make_mix(corpus, rearranged=0.4, synthetic=0.4, synthetic_grids=1.0, extra_keys=5)
    _, mixed = batch_at(corpus, mix, shares, 1)
    assert mixed.keys.shape == (20, 11, 4)
    assert not mixed.mask[:4, 6:].any()  # real rows
    assert mixed.mask[4:, 6:].any()
    assert mixed.mask[:, :6].all()
    assert mixed.targets.max() < 6
    assert (mixed.keys[~mixed.mask] == 0).all()


def test_rearranged_swipes_still_visit_their_keys(corpus):
    mix, shares = make_mix(corpus, rearranged=1.0)
    _, mixed = batch_at(corpus, mix, shares, 0)
    first = mixed.keys.gather(1, mixed.targets[:, :1, None].expand(-1, -1, 4))[:, 0]
    miss = (mixed.path[:, :, 0] - first[:, :2]).abs() / first[:, 2:]
    assert miss.max() < 1.0  # the finger starts on the first letter's new key


def test_retiming_moves_carried_swipes_in_time_only(corpus):
    timed, plain = (
        batch_at(corpus, *make_mix(corpus, rearranged=0.5, retime=retime), 0)[1] for retime in (True, False)
    )
    assert torch.equal(timed.keys, plain.keys)
    assert torch.equal(timed.path[:10], plain.path[:10])  # real rows
    assert not torch.allclose(timed.path[10:], plain.path[10:], atol=0.01)
    torch.testing.assert_close(timed.path[..., [0, -1]], plain.path[..., [0, -1]])


def test_pace_changes_paths_and_nothing_else(corpus):
    settings = {"rearranged": 0.25, "synthetic": 0.25}
    plain = batch_at(corpus, *make_mix(corpus, **settings), 1)[1]
    paced = batch_at(corpus, *make_mix(corpus, pace=PaceConfig(evened=1.0, coarse=1.0), **settings), 1)[1]
    assert (paced.path != plain.path).flatten(1).any(1).all()
    for name in ("keys", "mask", "targets", "lengths", "rows"):
        assert torch.equal(getattr(paced, name), getattr(plain, name)), name


def test_synthetic_swipes_are_on_the_corpus_layout_where_no_grid_is_wanted(corpus):
    mix, shares = make_mix(corpus, synthetic=1.0, synthetic_grids=0.0)
    _, mixed = batch_at(corpus, mix, shares, 0)
    assert torch.equal(mixed.keys, corpus.keys.expand(20, -1, -1))
    words = {tuple(word[:length]) for word, length in zip(mixed.targets.tolist(), mixed.lengths.tolist(), strict=True)}
    known = {tuple(toy.LAYOUT.letters.index(letter) for letter in word) for word in toy.WORDS}
    assert words <= known
    assert len(words) > 4


def test_a_step_is_the_same_whenever_it_is_made_and_on_no_two_processes(corpus):
    settings = {"rearranged": 0.5, "synthetic": 0.5}
    mix, shares = make_mix(corpus, **settings)
    mix.steps_per_pool = 3
    later = [batch_at(corpus, mix, shares, step)[1] for step in range(8)]
    fresh, _ = make_mix(corpus, **settings)
    fresh.steps_per_pool = 3
    assert all(torch.equal(a, b) for a, b in zip(batch_at(corpus, fresh, shares, 7)[1], later[7], strict=True))
    assert not torch.equal(later[6].path[10:], later[7].path[10:])
    other, _ = make_mix(corpus, rank=1, **settings)
    other.steps_per_pool = 3
    assert not torch.equal(batch_at(corpus, other, shares, 7)[1].path[10:], later[7].path[10:])


def test_alignments_are_in_order_for_every_row(corpus):
    frames = alignments(corpus, CPU).long()
    assert frames.shape == (len(corpus), corpus.longest)
    assert (frames.diff(dim=1) >= 0).all()
    assert (frames[:, 0] == 0).all()


def test_listed_words_are_those_that_can_be_typed_and_fit(corpus, tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("bad\nface\nzebra\nab\na\nfaceddead\nCafé\n", encoding="utf-8")
    words = words_to_make(corpus, toy.toy_config(synthetic_words=str(file)), CPU)
    spelled = {
        "".join(toy.LAYOUT.letters[key] for key in word[:length])
        for word, length in zip(words.targets.tolist(), words.lengths.tolist(), strict=True)
    }
    assert {"bad", "face", "ab", "cafe"} <= spelled
    assert "faceddead" not in spelled
    assert (needed_frames(words.targets, words.lengths) <= 32).all()
    file.write_text("zxyz\n", encoding="utf-8")
    with pytest.raises(TrainingError, match="no word that toy can type"):
        words_to_make(corpus, toy.toy_config(synthetic_words=str(file)), CPU)


def test_frames_limit_listed_words(corpus, tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("ab\nface\n", encoding="utf-8")
    config = toy.toy_config(synthetic_words=str(file), model=replace(toy.MODEL, points=4, frames=2))
    assert words_to_make(corpus, config, CPU).lengths.tolist() == [2]
