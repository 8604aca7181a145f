import importlib.util
import math
from argparse import Namespace
from pathlib import Path

import pytest
import torch

from glissando.errors import TrainingError
from glissando.model.checkpoint import load_embedder
from glissando.model.config import EmbedderConfig
from glissando.train.decoder_config import EmbedderTraining
from glissando.train.embedder import contrast, main, train_embedder
from glissando.train.state import load_state

_SPEC = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
toy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)

MODEL = EmbedderConfig(keys=6, width=16, dimensions=8)


@pytest.fixture(scope="module")
def options(tmp_path_factory) -> Namespace:
    folder = tmp_path_factory.mktemp("embedder")
    lexicon = folder / "words.txt"
    lexicon.write_text("\n".join([*toy.WORDS, "fab", "dab", "feed", "decade"]))
    pack, val = toy.write_pack(folder / "train.npz"), toy.write_pack(folder / "val.npz", rows=40, seed=9)
    return Namespace(pack=pack, val=val, lexicon=lexicon, resume=False, device="cpu")


def settings(**changes) -> EmbedderTraining:
    return EmbedderTraining(**{"model": MODEL, "batch": 32, "strangers": 4, "holdout": 0.0, "log_every": 5, **changes})


def test_a_swipe_finds_its_word(options, tmp_path):
    out = tmp_path / "run"
    last = train_embedder(settings(steps=60, learning_rate=5e-3), Namespace(**vars(options), out=out))
    assert last["val_recall_1"] > 0.8
    embedder, extra = load_embedder(out / "embedder.safetensors")
    assert embedder.config == MODEL
    assert extra["layout"]["name"] == "toy"


def test_a_resumed_run_equals_an_uninterrupted_one(options, tmp_path):
    config = settings(steps=12)
    whole, parts = (Namespace(**vars(options), out=tmp_path / name) for name in ("whole", "parts"))
    train_embedder(config, whole)
    train_embedder(config, parts, until=7)
    train_embedder(config, Namespace(**{**vars(parts), "resume": True}))
    one, two = (load_state(place.out / "checkpoint.safetensors")[0] for place in (whole, parts))
    assert all(torch.equal(tensor, two[name]) for name, tensor in one.items())


def test_contrast_by_hand():
    swipes = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    loss, right = contrast(swipes, swipes, torch.tensor([0, 1]), torch.tensor([0, 1]), torch.tensor(0.0))
    assert loss.item() == pytest.approx(math.log(1 + math.exp(-1)))
    assert right.item() == 1


def test_the_same_word_of_another_swipe_is_no_negative():
    swipes = torch.nn.functional.normalize(torch.randn(3, 4), dim=1)
    own, words = torch.tensor([7, 7, 8]), torch.tensor([7, 7, 8, 7])
    texts = torch.cat([swipes, swipes[:1]])
    loss, _ = contrast(swipes, texts, own, words, torch.tensor(1.0))
    near = (swipes @ texts.T * math.e).tolist()
    forth = [-near[0][0] + math.log(math.exp(near[0][0]) + math.exp(near[0][2]))]
    forth += [-near[1][1] + math.log(math.exp(near[1][1]) + math.exp(near[1][2]))]
    forth += [-near[2][2] + math.log(sum(math.exp(value) for value in near[2]))]
    back = [-near[0][0] + math.log(math.exp(near[0][0]) + math.exp(near[2][0]))]
    back += [-near[1][1] + math.log(math.exp(near[1][1]) + math.exp(near[2][1]))]
    back += [-near[2][2] + math.log(sum(math.exp(near[row][2]) for row in range(3)))]
    assert loss.item() == pytest.approx((sum(forth) + sum(back)) / 6, rel=1e-4)


def test_a_lexicon_is_needed(options, tmp_path, capsys):
    assert main(["--pack", str(options.pack), "--out", str(tmp_path / "run")]) == 1
    assert "needs --lexicon" in capsys.readouterr().err
    with pytest.raises(TrainingError, match="batch must be at least 1"):
        settings(batch=0)
