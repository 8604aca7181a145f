"""An exported encoder becomes one that can be trained: the same function."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

import numpy as np  # noqa: E402 (after torch)
from networks import small_encoder  # noqa: E402

from glissando.errors import WeightsError  # noqa: E402
from glissando.export.onnx import export_encoder  # noqa: E402
from glissando.export.unfolded import unfold_encoder  # noqa: E402
from glissando.weights import Weights, load_weights, write_card  # noqa: E402


def exported(tmp_path, encoder, **card):
    export_encoder(encoder, tmp_path / "one.onnx", card.get("precision", "fp32"))
    write_card(tmp_path / "one.onnx", {"config": encoder.config.to_dict(), **card})
    return load_weights(tmp_path / "one.onnx")


@pytest.mark.parametrize("changes", [{"width": 16, "hidden": 32}, {"width": 8, "hidden": 48, "frames": 64}])
def test_what_was_folded_comes_back_as_the_same_function(tmp_path, changes):
    encoder = small_encoder(**changes)
    again = unfold_encoder(exported(tmp_path, encoder))
    rng = np.random.default_rng(0)
    path = torch.from_numpy(rng.random((3, 2, 64), dtype=np.float32).cumsum(-1) / 64)
    keys, mask = torch.from_numpy(rng.random((3, 9, 2), dtype=np.float32)), torch.ones(3, 9, dtype=torch.bool)
    with torch.inference_mode():
        for mine, theirs in zip(again(path, keys, mask), encoder(path, keys, mask), strict=True):
            torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=1e-4)
    assert again.config == encoder.config


def test_what_cannot_be_trained_on_is_refused(tmp_path):
    with pytest.raises(WeightsError, match="cannot be trained on"):
        unfold_encoder(exported(tmp_path, small_encoder(width=64, hidden=32)))
    whole = exported(tmp_path, small_encoder(width=16, hidden=32))
    with pytest.raises(WeightsError, match="reduced"):
        unfold_encoder(Weights("half", whole.data, whole.card | {"precision": "fp16"}))
    with pytest.raises(WeightsError, match="not an encoder's"):
        unfold_encoder(Weights("other", whole.data, {}))
    with pytest.raises(WeightsError, match="not an encoder's"):
        unfold_encoder(
            Weights(
                "deeper",
                whole.data,
                {"config": small_encoder(width=16, hidden=32, dilations=(1,) * 9).config.to_dict()},
            )
        )
    with pytest.raises(WeightsError, match="no ONNX file"):
        unfold_encoder(Weights("cut", whole.data[:-200], whole.card))
