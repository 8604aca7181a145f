"""A toy corpus, a trained encoder of it, and what a decoder needs: made once for all tests of training."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from train import toy

pytest.importorskip("torch")

from glissando.model.config import EmbedderConfig
from glissando.train.augment import AugmentConfig
from glissando.train.decoder.config import EmbedderTraining, MiningConfig
from glissando.train.decoder.embedder import train_embedder
from glissando.train.decoder.mining import mine_negatives
from glissando.train.encoder.trainer import train_encoder

STRANGERS = ["fab", "bee", "dab", "add", "caf", "cade", "fade", "decade", "ebb", "dead", "feed"]


@pytest.fixture(scope="session")
def pack(tmp_path_factory) -> Path:
    """Swipes of twenty people."""
    return toy.write_pack(tmp_path_factory.mktemp("packs") / "train.npz")


@pytest.fixture(scope="session")
def val(tmp_path_factory) -> Path:
    """Held-out swipes."""
    return toy.write_pack(tmp_path_factory.mktemp("packs") / "val.npz", rows=40, seed=9)


@pytest.fixture(scope="session")
def trained(pack, val, tmp_path_factory) -> Path:
    """The directory of a run that learned the toy; ``encoder-0000060.safetensors`` in it is half trained."""
    out = tmp_path_factory.mktemp("runs") / "encoder"
    model = replace(toy.MODEL, dropout=0.0)
    config = toy.toy_config(model=model, augment=AugmentConfig.off(), steps=150, learning_rate=1e-2, snapshot_every=5)
    train_encoder(config, toy.job(pack, out, val=val))
    return out


@dataclass(frozen=True)
class Kit:
    """The files that a decoder's training needs."""

    pack: Path
    val: Path
    lexicon: Path
    encoder: Path
    embedder: Path
    negatives: Path


@pytest.fixture(scope="session")
def kit(pack, val, trained, tmp_path_factory) -> Kit:
    """A half-trained encoder, a word list, and an embedder and negatives of them."""
    folder = tmp_path_factory.mktemp("kit")
    words = [*toy.WORDS[:8], *STRANGERS]
    (folder / "words.txt").write_text("".join(f"{word} {count}\n" for count, word in enumerate(words, start=1)))
    files = Kit(
        pack, val, folder / "words.txt", trained / "encoder-0000060.safetensors",
        folder / "embedder/embedder.safetensors", folder / "negatives.npz",
    )  # fmt: skip
    model = EmbedderConfig(keys=6, width=16, dimensions=8)
    settings = EmbedderTraining(model=model, batch=32, strangers=8, holdout=0.0, steps=60, learning_rate=5e-3)
    train_embedder(settings, toy.job(pack, files.embedder.parent, val=val), files.lexicon)
    mining = MiningConfig(neighbours=6, pool=8)
    mine_negatives(mining, toy.job(pack, files.negatives, val=val), files.lexicon, files.embedder)
    return files
