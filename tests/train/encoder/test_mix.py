import pytest
import torch
from train import toy

from glissando.train.batches import Batch, Batches, TrainingSet
from glissando.train.encoder.mix import Mix
from glissando.train.sampling import Order

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus(pack) -> TrainingSet:
    return TrainingSet.open(pack, 32)


def make_mix(corpus: TrainingSet, rank: int = 0, **settings) -> Mix:
    config = toy.toy_config(batch=20, **settings)
    return Mix(corpus.with_room(config.extra_keys), config, 20, CPU, rank)


def batch_at(corpus: TrainingSet, mix: Mix, step: int) -> tuple[Batch, Batch]:
    """A step's rows and its training batch."""
    corpus = corpus.with_room(mix.config.extra_keys)
    rows, index = next(Batches(corpus, Order(len(corpus), 20), CPU).since(step))
    return rows, mix(rows, index, step)


def test_without_a_share_the_batch_is_the_corpus(corpus):
    rows, mixed = batch_at(corpus, make_mix(corpus), 3)
    assert all(torch.equal(a, b) for a, b in zip(rows, mixed, strict=True))


def test_real_rows_stay_and_the_others_leave_their_layout(corpus):
    rows, mixed = batch_at(corpus, make_mix(corpus, rearranged=0.5, extra_keys=5), 2)
    assert mixed.keys.shape == (20, 11, 4)
    for kept, row in zip(mixed, rows, strict=True):
        assert torch.equal(kept[:10], row[10:])
    assert not torch.allclose(mixed.keys[10:, :6, :2], rows.keys[:10, :6, :2], atol=0.02)
    assert torch.equal(mixed.targets[10:], rows.targets[:10])
    assert mixed.mask[:, :6].all()
    assert mixed.mask[10:, 6:].any()  # extra keys are real, but never a target
    assert mixed.targets.max() < 6
    assert (mixed.keys[~mixed.mask] == 0).all()
    assert mixed.path.min() >= 0
    assert mixed.path.max() <= 1


def test_rearranged_swipes_still_visit_their_keys(corpus):
    _, mixed = batch_at(corpus, make_mix(corpus, rearranged=1.0), 0)
    first = mixed.keys.gather(1, mixed.targets[:, :1, None].expand(-1, -1, 4))[:, 0]
    miss = (mixed.path[:, :, 0] - first[:, :2]).abs() / first[:, 2:]
    assert miss.max() < 1.0  # the finger starts on the first letter's new key


def test_retiming_moves_carried_swipes_in_time_only(corpus):
    timed, plain = (batch_at(corpus, make_mix(corpus, rearranged=0.5, retime=retime), 0)[1] for retime in (True, False))
    assert torch.equal(timed.keys, plain.keys)
    assert torch.equal(timed.path[:10], plain.path[:10])  # real rows
    assert not torch.allclose(timed.path[10:], plain.path[10:], atol=0.01)
    torch.testing.assert_close(timed.path[..., [0, -1]], plain.path[..., [0, -1]])


def test_a_step_is_the_same_whenever_it_is_made_and_on_no_two_processes(corpus):
    def step_seven(start: int, rank: int = 0) -> list[Batch]:
        mix = make_mix(corpus, rank, rearranged=0.5)
        mix.steps_per_draw = 3
        return [batch_at(corpus, mix, step)[1] for step in range(start, 8)]

    whole, alone = step_seven(0), step_seven(7)
    assert all(torch.equal(a, b) for a, b in zip(whole[-1], alone[-1], strict=True))
    assert not torch.equal(whole[-2].path[10:], whole[-1].path[10:])
    assert not torch.equal(step_seven(7, rank=1)[-1].path[10:], whole[-1].path[10:])
