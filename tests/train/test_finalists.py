import numpy as np
import pytest
import torch

from glissando.errors import TrainingError
from glissando.train.finalists import SCALE, Finalists, FinalistTable, Part, as_stored
from glissando.train.vocabulary import Vocabulary

CPU = torch.device("cpu")
# Words a, b, ca, d, bb.
WORDS = Vocabulary(
    letters=np.array([0, 1, 2, 0, 3, 1, 1], dtype=np.uint8),
    offsets=np.array([0, 1, 2, 4, 5, 7]),
    frequencies=np.array([10, 20, 30, 40, 50], dtype=np.uint8),
    candidates=5,
)


def part(words: list[list[int]], found: list[bool], corpus: str) -> Part:
    rows = np.array(words, dtype=np.int32)
    distances = np.arange(rows.size * 2).reshape(*rows.shape, 2) / 8
    return Part(rows, as_stored(distances), np.array(found), corpus)


@pytest.fixture
def finalists() -> Finalists:
    train = part([[0, 4, 2, 1, 3], [2, 1, -1, -1, -1], [3, 0, 1, 2, 4]], [True, True, False], "t")
    return Finalists(WORDS, {"train": train, "val": part([[1, 0, 2]], [True], "v")}, "e")


def test_finalists_come_back_from_disk_with_their_checksum(finalists, tmp_path):
    finalists.save(tmp_path / "f.npz")
    again = Finalists.open(tmp_path / "f.npz")
    assert (again.digest, again.encoder) == (finalists.digest, "e")
    np.testing.assert_array_equal(again.parts["val"].words, [[1, 0, 2]])
    assert "3 swipes of train with 3.0 finalists" in again.summary()


def test_distances_are_kept_to_a_thousandth():
    far = np.array([0.0, 0.1234, 1.5, 99.0])
    assert (as_stored(far) / SCALE).tolist() == pytest.approx([0.0, 0.1234, 1.5, 65535 / SCALE], abs=0.5 / SCALE)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("train_words", np.array([[0, 4, 0]] * 3, dtype=np.int32), "do not fit"),
        ("val_words", np.array([[1, 1, 2]], dtype=np.int32), "the truth of a row of val is among its rivals"),
        ("val_words", np.array([[1, 5, 2]], dtype=np.int32), "val has a word that is none"),
        ("val_words", np.array([[-1, 0, 2]], dtype=np.int32), "val has a word that is none"),
        ("meta", np.frombuffer(b'{"format": "x"}', dtype=np.uint8), "its format is 'x'"),
    ],
)
def test_damaged_files_are_refused(name, array, message, finalists, tmp_path):
    np.savez(tmp_path / "bad.npz", **{**finalists.arrays, name: array})
    with pytest.raises(TrainingError, match=message):
        Finalists.open(tmp_path / "bad.npz")


def test_they_belong_to_a_corpus(finalists):
    table = FinalistTable(finalists, CPU)
    assert table.place("val", "v", np.array([0])).tolist() == [3]  # after the three of train
    with pytest.raises(TrainingError, match="of another corpus"):
        table.place("val", "t", np.array([0]))
    with pytest.raises(TrainingError, match="no part dev"):
        table.place("dev", "t", np.array([0]))
    with pytest.raises(TrainingError, match="of 3 swipes, a row is 3"):
        table.place("train", "t", np.array([3]))


def test_the_truth_comes_first_then_the_best(finalists):
    found = FinalistTable(finalists, CPU).first(torch.tensor([0, 1, 3]), 2)
    assert found.targets.tolist() == [[[0, 0], [1, 1], [2, 0]], [[2, 0], [1, 0], [0, 0]], [[1, 0], [0, 0], [2, 0]]]
    assert found.lengths[0].tolist() == [1, 2, 2]
    assert found.frequencies.tolist()[2] == [20, 10, 30]
    assert found.valid.tolist() == [[True] * 3, [True, True, False], [True] * 3]
    assert found.distances[0].tolist() == [[0, 1 / 8], [2 / 8, 3 / 8], [4 / 8, 5 / 8]]


def test_the_hardest_are_in_every_draw_and_the_others_by_chance(finalists):
    table = FinalistTable(finalists, CPU, keep=2)
    drawn = table.draw(torch.zeros(3000, dtype=torch.long), 3, 0.0, torch.Generator().manual_seed(0))
    assert set(drawn.frequencies[:, 0].tolist()) == {10}
    assert set(map(tuple, drawn.frequencies[:, 1:3].tolist())) == {(50, 30)}
    assert (drawn.frequencies[:, 3] == 20).float().mean().item() == pytest.approx(0.5, abs=0.03)
    steep = table.draw(torch.zeros(3000, dtype=torch.long), 3, 3.0, torch.Generator().manual_seed(0))
    share = (steep.frequencies[:, 3] == 20).float().mean().item()  # rank 3 against rank 4
    assert share == pytest.approx(3**-3 / (3**-3 + 4**-3), abs=0.03)


def test_a_truth_that_the_beam_lost_has_no_rivals(finalists):
    table = FinalistTable(finalists, CPU, keep=1)
    drawn = table.draw(torch.tensor([0, 1, 2]), 4, 0.0, torch.Generator().manual_seed(0))
    assert drawn.valid.tolist() == [[True] * 5, [True, True, False, False, False], [True, False, False, False, False]]
    assert table.draw(torch.tensor([0]), 0, 0.0, torch.Generator()).valid.shape == (1, 1)
