import json

import pytest
import safetensors.torch
import torch

from glissando.errors import FileError, WeightsError
from glissando.model.checkpoint import (
    load_decoder,
    load_embedder,
    load_encoder,
    save_decoder,
    save_embedder,
    save_encoder,
)
from glissando.model.config import DecoderConfig, EmbedderConfig, EncoderConfig
from glissando.model.decoder import Decoder
from glissando.model.embedder import Embedder
from glissando.model.encoder import Encoder

CONFIG = EncoderConfig(width=16, hidden=32, dilations=(1, 2), resolution=4, basis="grid", frames=64)


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    encoder = Encoder(CONFIG)
    torch.nn.init.normal_(encoder.heads.weight)
    encoder.train()(torch.rand(8, 2, 64), torch.rand(8, 5, 2), torch.ones(8, 5).bool())  # moves the batch statistics
    return encoder


@pytest.fixture
def file(tmp_path, encoder):
    path = tmp_path / "encoder.safetensors"
    save_encoder(path, encoder, {"step": 7, "metrics": {"top1": 0.9}})
    return path


def rewrite(path, metadata=None, **tensors):
    """Save the file again with some of it changed; None removes a tensor."""
    with safetensors.safe_open(path, "pt") as opened:
        old = opened.metadata()
    state = {**safetensors.torch.load_file(path), **tensors}
    state = {name: tensor for name, tensor in state.items() if tensor is not None}
    safetensors.torch.save_file(state, path, {**old, **(metadata or {})})


def test_what_is_saved_comes_back(file, encoder):
    loaded, extra = load_encoder(file)
    assert extra == {"step": 7, "metrics": {"top1": 0.9}}
    assert loaded.config == CONFIG
    assert not loaded.training
    args = torch.rand(2, 2, 64), torch.rand(2, 5, 2), torch.ones(2, 5).bool()
    torch.testing.assert_close(loaded(*args), encoder.eval()(*args), rtol=0, atol=0)


def test_decoders_and_embedders_come_back_and_are_told_apart(file, tmp_path):
    torch.manual_seed(0)
    decoder = Decoder(DecoderConfig(keys=5, coefficients=4, hidden=8, bottleneck=4, blocks=1, skip_floor=-9.0))
    decoder.fit_standard(torch.randn(5, 8, 11) * 3)  # the inputs' mean and spread belong to the weights
    torch.nn.init.normal_(decoder.head.weight)
    embedder = Embedder(EmbedderConfig(keys=5, width=8, dimensions=4))
    save_decoder(tmp_path / "d", decoder, {"layout": {"name": "toy"}})
    save_embedder(tmp_path / "e", embedder, {"step": 1})
    again, extra = load_decoder(tmp_path / "d")
    assert (again.config, extra) == (decoder.config, {"layout": {"name": "toy"}})
    features = torch.randn(2, 8, 11)
    torch.testing.assert_close(again(features), decoder.eval()(features), rtol=0, atol=0)
    loaded, extra = load_embedder(tmp_path / "e")
    assert (loaded.config, extra, loaded.training) == (embedder.config, {"step": 1}, False)
    for load, other, whose in (
        (load_decoder, file, "a decoder's"),
        (load_embedder, tmp_path / "d", "an embedder's"),
        (load_encoder, tmp_path / "e", "an encoder's"),
    ):
        with pytest.raises(WeightsError, match=f"is not {whose} checkpoint"):
            load(other)


def test_missing_and_damaged_files_and_folders(file, tmp_path, encoder):
    for damaged in (file.read_bytes()[:100], file.read_bytes()[:-10], bytes(50)):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(WeightsError, match="damaged or no safetensors file"):
            load_encoder(tmp_path / "damaged")
    with pytest.raises(WeightsError, match="no checkpoint at"):
        load_encoder(tmp_path / "none.safetensors")
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot write"):
        save_encoder(tmp_path / "file" / "encoder.safetensors", encoder, {})


@pytest.mark.parametrize(
    ("metadata", "tensors", "message"),
    [
        ({"format": "other"}, {}, "not an encoder's checkpoint"),
        ({"config": "{"}, {}, "no usable config"),
        ({"config": "[1]"}, {}, "must be an object"),
        ({"config": '{"depth": 3}'}, {}, "no setting depth"),
        ({"config": json.dumps({**CONFIG.to_dict(), "width": 32})}, {}, "the config asks for"),
        ({}, {"stem.bias": torch.full((16,), torch.nan)}, r"'stem.bias' holds values that are not finite"),
        ({}, {"more": torch.zeros(1)}, "unknown 'more'"),
        ({}, {"stem.bias": None}, r"lacks 'stem.bias'"),
    ],
)
def test_what_does_not_fit_is_named(file, metadata, tensors, message):
    rewrite(file, metadata, **tensors)
    with pytest.raises(WeightsError, match=message):
        load_encoder(file)
