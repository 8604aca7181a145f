"""The keyboard in several runtimes reads the same words."""

import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")

from networks import small_encoder  # noqa: E402

import glissando  # noqa: E402
from glissando.cli.runtimes import line_up  # noqa: E402
from glissando.export.onnx import export_encoder  # noqa: E402
from glissando.model.checkpoint import save_encoder  # noqa: E402
from glissando.synth import swipe  # noqa: E402
from glissando.weights import write_card  # noqa: E402

WORDS = ["hello", "world", "water", "glass"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contenders")
    encoder = small_encoder(dilations=(1,))
    save_encoder(folder / "encoder.safetensors", encoder)
    export_encoder(encoder, folder / "encoder.onnx")
    write_card(folder / "encoder.onnx", {"config": encoder.config.to_dict()})
    return folder


@pytest.fixture
def keyboard(folder):
    return glissando.load("qwerty", lexicon=dict.fromkeys(WORDS, 1), weights=folder / "encoder.onnx", method="encoder")


def test_with_the_checkpoint_torch_decodes_as_onnxruntime_does(keyboard, folder):
    lined = line_up(keyboard, ["torch"], folder / "encoder.safetensors")
    assert list(lined.keyboards) == ["onnxruntime", "torch"]
    assert not lined.skipped
    for word in WORDS:
        gesture = swipe(word, keyboard.layout)
        ours, theirs = (one.decode(gesture)[0] for one in lined.keyboards.values())
        assert ours.word == theirs.word == keyboard.decode(gesture)[0].word  # an untrained decoder changes nothing
        assert ours.score == pytest.approx(theirs.score, abs=1e-3)
    assert lined.parameters["decoder"] == 304_667
    assert lined.megabytes["encoder.onnx"] == pytest.approx((folder / "encoder.onnx").stat().st_size / 1e6)
    assert 1.1 < lined.megabytes["decoder.onnx"] < 1.3


def test_without_a_checkpoint_the_network_has_the_same_size_and_a_missing_runtime_a_reason(keyboard, monkeypatch):
    monkeypatch.setitem(sys.modules, "executorch", None)
    for name in [name for name in sys.modules if name.startswith("executorch.")]:
        monkeypatch.delitem(sys.modules, name)
    lined = line_up(keyboard, ["executorch"])
    assert lined.parameters["encoder"] == sum(p.numel() for p in small_encoder(dilations=(1,)).parameters())
    assert list(lined.keyboards) == ["onnxruntime"]
    assert "pip install 'glissando[executorch]'" in lined.skipped["executorch"]
