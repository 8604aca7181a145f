import numpy as np
import pytest
import torch

from glissando.errors import TrainingError
from glissando.train.decoder.negatives import Pools, PoolTable
from glissando.train.decoder.words import SpelledWords

CPU = torch.device("cpu")
WORDS = SpelledWords(
    letters=np.array([0, 1, 2, 0, 3, 1, 1], dtype=np.uint8),
    offsets=np.array([0, 1, 2, 4, 5, 7]),
    frequencies=np.array([10, 20, 30, 40, 50], dtype=np.uint8),
    candidates=5,
)


@pytest.fixture
def pools() -> Pools:
    # Word 0 retrieved 1 twice, 2 once (near), 3 once (far); word 4 retrieved 2. Word 1 is no query.
    pairs = np.array([(0, 1), (4, 2), (0, 3), (0, 1), (0, 2), (1, 0)])
    nearness = np.array([0.1, 0.5, 0.2, 0.1, 0.9, 0.9])
    return Pools.gather(WORDS, np.array([4, 0]), pairs, nearness, most=3)


def test_hits_come_first_then_nearness(pools):
    members, counts = pools.pool(0)
    assert (members.tolist(), counts.tolist()) == ([1, 2, 3], [2, 1, 1])
    assert pools.pool(4)[0].tolist() == [2]
    with pytest.raises(TrainingError, match="word 1 has no pool"):
        pools.pool(1)
    assert pools.summary().startswith("2 words with 2 negatives")
    assert pools.place(np.array([4, 0, 4])).tolist() == [1, 0, 1]
    with pytest.raises(TrainingError, match="1 swipes have words without negatives"):
        pools.place(np.array([4, 3]))


def test_pools_come_back_from_disk_with_their_checksum(pools, tmp_path):
    pools.save(tmp_path / "n.npz")
    again = Pools.open(tmp_path / "n.npz")
    assert again.digest == pools.digest
    assert again.vocabulary.candidates == 5
    changed = Pools(WORDS, pools.queries, pools.starts, pools.members[::-1], pools.counts)
    assert changed.digest != pools.digest


def test_damaged_files_are_refused(pools, tmp_path):
    with pytest.raises(TrainingError, match="cannot read negatives"):
        Pools.open(tmp_path / "none.npz")
    arrays = pools.arrays
    for name, array, message in (
        ("starts", np.array([0, 9]), "do not fit"),
        ("members", arrays["members"] + 4, "a member is no word"),
    ):
        np.savez(tmp_path / "bad.npz", **{**arrays, name: array})
        with pytest.raises(TrainingError, match=message):
            Pools.open(tmp_path / "bad.npz")


def test_candidates_are_the_truth_and_its_negatives(pools):
    found = PoolTable(pools, CPU).first(torch.tensor([0, 1]), 2)
    assert found.targets.tolist() == [[[0, 0], [1, 0], [2, 0]], [[1, 1], [2, 0], [0, 0]]]
    assert found.lengths.tolist() == [[1, 1, 2], [2, 2, 1]]
    assert found.frequencies.tolist() == [[10, 20, 30], [50, 30, 10]]
    assert found.valid.tolist() == [[True, True, True], [True, True, False]]


def test_draws_are_even_and_never_repeat(pools):
    table, place = PoolTable(pools, CPU), torch.zeros(6000, dtype=torch.long)
    drawn = table.draw(place, 1, torch.Generator().manual_seed(0))
    shares = [(drawn.frequencies[:, 1] == byte).float().mean().item() for byte in (20, 30, 40)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.03)
    all_ = table.draw(place[:50], 9, torch.Generator().manual_seed(0))
    assert all(sorted(row) == [10, 20, 30, 40] for row in all_.frequencies.tolist())
    assert table.draw(place[:5], 0, torch.Generator().manual_seed(0)).valid.shape == (5, 1)
