import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from glissando.errors import TrainingError
from glissando.model.checkpoint import save_encoder
from glissando.model.config import EncoderConfig
from glissando.model.encoder import Encoder
from glissando.train.batches import Corpus
from glissando.train.holdout import draws
from glissando.train.strangers import Readers, Stranger, choose_readers, load_strangers

_SPEC = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
toy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)

CPU = torch.device("cpu")


@pytest.fixture
def corpus(tmp_path) -> Corpus:
    return Corpus.open(toy.write_pack(tmp_path / "pack.npz", rows=30), 32)


def write(path: Path, corpus: Corpus, part=(0.0, 0.5), model: EncoderConfig = toy.MODEL, digest: str = "") -> Path:
    config = {"part": list(part), "part_seed": 1}
    save_encoder(path, Encoder(model), {"training": {"config": config, "corpus": digest or corpus.digest}})
    return path


def test_no_reader_has_met_the_person():
    halves = [Stranger(Encoder(toy.MODEL), part, 1) for part in ((0.0, 0.5), (0.5, 1.0))]
    sessions = np.repeat(np.arange(300), 2)
    readers = choose_readers(halves, sessions)
    assert set(readers) == {1, 2}
    for number, stranger in enumerate(halves, start=1):
        drawn = draws(sessions[readers == number], 1)
        assert not ((stranger.part[0] <= drawn) & (drawn < stranger.part[1])).any()
    assert (readers[::2] == readers[1::2]).all()  # a person has one stranger


def test_whom_everybody_has_met_is_read_by_the_encoder():
    sessions = np.arange(300)
    readers = choose_readers([Stranger(Encoder(toy.MODEL), (0.0, 0.3), 1)], sessions)
    np.testing.assert_array_equal(readers == 0, draws(sessions, 1) < 0.3)
    assert (choose_readers([], sessions) == 0).all()


def test_strangers_come_with_their_part(corpus, tmp_path):
    one = write(tmp_path / "one.safetensors", corpus, (0.25, 0.75))
    (found,) = load_strangers([one], toy.MODEL, corpus)
    assert (found.part, found.seed) == ((0.25, 0.75), 1)


def test_encoders_that_cannot_stand_in_are_refused(corpus, tmp_path):
    wide = EncoderConfig(**{**toy.MODEL.to_dict(), "resolution": 5, "dilations": (1, 2)})
    for changes, message in (
        ({"part": (0.0, 1.0)}, "nobody's stranger"),
        ({"digest": "other"}, "another corpus"),
        ({"model": wide}, "has resolution 5, the encoder it stands in for has 4"),
    ):
        path = write(tmp_path / "bad.safetensors", corpus, **changes)
        with pytest.raises(TrainingError, match=message):
            load_strangers([path], toy.MODEL, corpus)
    save_encoder(tmp_path / "old.safetensors", Encoder(toy.MODEL))
    with pytest.raises(TrainingError, match="nobody's stranger"):
        load_strangers([tmp_path / "old.safetensors"], toy.MODEL, corpus)


def test_rows_are_dealt_by_reader():
    of = torch.tensor([0, 1, 2, 1, 2, 0, 2])
    rows = torch.tensor([[6, 5, 4, 3], [0, 1, 2, 3]])
    readers = Readers((None, None), of)
    first, second = readers.deal(rows, torch.Generator(), CPU)
    assert (first.rows.tolist(), first.counts) == ([5, 3, 6, 4], (1, 1, 2))
    assert (second.rows.tolist(), second.counts) == ([0, 1, 3, 2], (1, 2, 1))
    plain = Readers().deal(rows, torch.Generator(), CPU)
    assert [(deal.rows.tolist(), deal.counts) for deal in plain] == [([6, 5, 4, 3], (4,)), ([0, 1, 2, 3], (4,))]


def test_a_share_of_the_draws_goes_to_the_stranger():
    of, rows = torch.ones(4000, dtype=torch.long), torch.arange(4000)[None]
    (deal,) = Readers((None,), of, 0.25).deal(rows, torch.Generator().manual_seed(0), CPU)
    assert sorted(deal.rows.tolist()) == rows[0].tolist()
    assert deal.counts[1] == pytest.approx(1000, abs=100)
    (none,) = Readers((None,), of, 0.0).deal(rows, torch.Generator().manual_seed(0), CPU)
    assert none.counts == (4000, 0)
