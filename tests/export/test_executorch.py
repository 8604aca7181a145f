"""The networks in XNNPACK's operations: the same function, in torch and in executorch's own runtime."""

import copy
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from networks import small_decoder, small_encoder, small_matcher  # noqa: E402

from glissando.errors import MissingExtraError, WeightsError  # noqa: E402
from glissando.export.executorch import (  # noqa: E402
    FULL_BLOCKS,
    FULL_DECODER_BLOCKS,
    DeviceEncoder,
    MixedDecoder,
    export_decoder,
    export_encoder,
    export_matcher,
    spell_attention,
)
from glissando.export.runners import MatcherProgram, Program, TorchForward  # noqa: E402


def swipe_on(keys, seed=3):
    """One path and a layout of ``keys`` random keys, as arrays."""
    rng = np.random.default_rng(seed)
    path = np.clip(0.5 + rng.normal(0, 0.02, (1, 2, 64)).cumsum(2), 0, 1).astype(np.float32)
    places = np.zeros((1, 64, 2), np.float32)
    places[0, :keys] = rng.random((keys, 2))
    return path, places, (np.arange(64) < keys)[None]


def frames(seed=4):
    """An encoder's outputs for one swipe on 26 keys, as arrays."""
    rng = np.random.default_rng(seed)
    log_probs = np.log(rng.dirichlet(np.ones(27), (1, 32))).astype(np.float32)
    return log_probs, rng.normal(size=(1, 32, 64)).astype(np.float32), rng.normal(size=(1, 32)).astype(np.float32)


def finalists(count, letters, seed=5):
    """A path and finalists of one to ``letters`` letters, in key widths, as arrays."""
    rng = np.random.default_rng(seed)
    path = rng.normal(0, 0.3, (1, 64, 2)).cumsum(1).astype(np.float32)
    keys = rng.normal(0, 2, (1, count, letters, 2)).astype(np.float32)
    lengths = 1 + np.arange(count) % letters
    return path, keys, (np.arange(letters) < lengths[::-1, None])[None]


@pytest.mark.parametrize(
    "config",
    [{}, {"frames": 64}, {"basis": "grid", "blank": "joint", "resolution": 5}],
    ids=["plain", "frames", "grid"],
)
def test_the_device_form_is_the_same_function(config):
    encoder = small_encoder(**config)
    device = DeviceEncoder(copy.deepcopy(encoder), mixed=False)
    for keys in (1, 26, 64):
        one, other = (TorchForward(network)(*swipe_on(keys)) for network in (device, encoder))
        for got, expected in zip(one, other, strict=True):
            np.testing.assert_allclose(got, expected, atol=2e-5)


def test_mixed_precision_halves_the_later_blocks_only():
    encoder = small_encoder()
    device = DeviceEncoder(copy.deepcopy(encoder), mixed=True)
    kinds = {name: parameter.dtype for name, parameter in device.named_parameters()}
    assert {kind for name, kind in kinds.items() if name.startswith("late")} == {torch.float16}
    assert {kind for name, kind in kinds.items() if not name.startswith("late")} == {torch.float32}
    assert (len(device.early), len(device.late)) == (FULL_BLOCKS, len(encoder.blocks) - FULL_BLOCKS)
    exact, rough = (TorchForward(network)(*swipe_on(26))[0] for network in (encoder, device))
    assert 0 < np.abs(exact - rough).max() < 2e-2


def test_mixed_precision_of_a_decoder():
    decoder = small_decoder()
    device = MixedDecoder(copy.deepcopy(decoder))
    kinds = {name: parameter.dtype for name, parameter in device.named_parameters()}
    halved = {name.split(".")[1] for name, kind in kinds.items() if kind == torch.float16}
    assert halved == {str(index) for index in range(FULL_DECODER_BLOCKS, len(decoder.blocks))}
    exact, rough = TorchForward(decoder)(*frames())[0], device(*map(torch.from_numpy, frames())).detach().numpy()
    assert 0 < np.abs(exact - rough).max() < 2e-2


def test_an_encoder_in_executorch(tmp_path, monkeypatch):
    pytest.importorskip("executorch", reason="executorch is not installed")
    monkeypatch.setattr("glissando.export.executorch.FULL_BLOCKS", 1)  # lowering takes seconds per block
    encoder = small_encoder(frames=64, dilations=(1, 2))
    export_encoder(encoder, tmp_path / "one.pte", "mixed")
    program = Program(tmp_path / "one.pte")
    for keys in (26, 64):
        arrays = swipe_on(keys)
        for one, other in zip(program(*arrays), TorchForward(encoder)(*arrays), strict=True):
            np.testing.assert_allclose(one, other, atol=2e-2)


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 5e-5), ("mixed", 2e-2)])
def test_a_decoder_in_executorch(precision, tolerance, tmp_path):
    pytest.importorskip("executorch", reason="executorch is not installed")
    # As many channels as the real one has, and a block to halve.
    decoder = small_decoder(blocks=1 if precision == "fp32" else 1 + FULL_DECODER_BLOCKS, hidden=256)
    export_decoder(decoder, tmp_path / "one.pte", 32, precision)
    program = Program((tmp_path / "one.pte").read_bytes())
    first = program(*frames(1))[0]
    kept = first.copy()
    second = program(*frames(2))[0]
    np.testing.assert_array_equal(first, kept)  # a result is not written over by the next
    np.testing.assert_allclose(first, TorchForward(decoder)(*frames(1))[0], atol=tolerance)
    np.testing.assert_allclose(second, TorchForward(decoder)(*frames(2))[0], atol=tolerance)


@pytest.mark.parametrize("config", [{}, {"penalty": False}], ids=["plain", "no penalty"])
def test_spelled_attention_is_the_same_function(config):
    matcher = small_matcher(**config)
    spelled = spell_attention(copy.deepcopy(matcher))
    for count, letters in ((1, 1), (16, 20)):
        one, other = (TorchForward(network)(*finalists(count, letters))[0] for network in (spelled, matcher))
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_matcher_in_executorch_compares_any_number_of_finalists_and_letters(tmp_path):
    pytest.importorskip("executorch", reason="executorch is not installed")
    matcher = small_matcher()
    export_matcher(matcher, tmp_path / "one.pte")
    program = MatcherProgram(tmp_path / "one.pte")
    for count, letters in ((1, 1), (2, 9), (16, 20)):
        arrays = finalists(count, letters)
        assert np.ptp(TorchForward(matcher)(*arrays)[0]) > (1e-3 if count > 1 else -1)
        np.testing.assert_allclose(program(*arrays)[0], TorchForward(matcher)(*arrays)[0], atol=5e-5)
    with pytest.raises(WeightsError, match="compares 16 finalists of 20 letters, got 17 of 4"):
        program(*finalists(17, 4))
    with pytest.raises(WeightsError, match="no precision 'mixed' for a matcher as ExecuTorch; there are fp32"):
        export_matcher(matcher, tmp_path / "two.pte", "mixed")


def test_an_unknown_precision_and_a_missing_executorch_are_named(tmp_path, monkeypatch):
    with pytest.raises(WeightsError, match="no precision 'int4' for ExecuTorch; there are fp32, mixed"):
        export_encoder(small_encoder(), tmp_path / "one.pte", "int4")
    monkeypatch.setitem(sys.modules, "executorch", None)
    for name in [name for name in sys.modules if name.startswith("executorch.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError, match=r"glissando\[executorch\]"):
        export_encoder(small_encoder(dilations=(1,)), tmp_path / "one.pte")
    with pytest.raises(MissingExtraError, match=r"glissando\[executorch\]"):
        Program(tmp_path / "one.pte")
    assert not (tmp_path / "one.pte").exists()
