"""ONNX files: they compute what torch computes, hold nothing needless, and shrink where told to."""

import logging

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import onnxruntime  # noqa: E402
from networks import small_decoder, small_encoder  # noqa: E402
from onnx import TensorProto  # noqa: E402

from glissando.errors import MissingExtraError, WeightsError  # noqa: E402
from glissando.export.onnx import (  # noqa: E402
    export_decoder,
    export_encoder,
    large_products,
    reduce_precision,
)
from glissando.model.config import DecoderConfig, EncoderConfig  # noqa: E402
from glissando.model.decoder import frame_features  # noqa: E402
from glissando.model.emissions import EncoderOutput  # noqa: E402
from glissando.runtime import CORRECTED, INPUTS, OUTPUTS  # noqa: E402

CONFIGS = {  # of the report's size, and one whose every choice is another
    "default": {
        "width": EncoderConfig().width,
        "hidden": EncoderConfig().hidden,
        "dilations": EncoderConfig().dilations,
    },
    "other": {"width": 16, "dilations": (1, 5), "frames": 64, "basis": "grid", "blank": "joint", "resolution": 5},
}
KINDS = ("swipe", "tap", "corner tap", "there and back", "tremble")


def open_session(model):
    data = model if isinstance(model, bytes) else model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module", params=CONFIGS)
def written(request, tmp_path_factory):
    """An encoder, its file, and a session that runs it."""
    encoder = small_encoder(**CONFIGS[request.param])
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    path = tmp_path_factory.mktemp("onnx") / "encoder.onnx"
    random = torch.get_rng_state()
    export_encoder(encoder.train(), path)
    assert torch.equal(torch.get_rng_state(), random)  # a training run may export on its way
    assert encoder.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.state_dict().items())
    return encoder.eval(), path, open_session(path.read_bytes())


def paths(kind, batch):
    """Paths [batch, 2, 64] of one kind."""
    rng = np.random.default_rng(5)
    path = {
        "swipe": np.clip(0.5 + rng.normal(0, 0.02, (2, 64)).cumsum(1), 0, 1),
        "tap": np.full((2, 64), 0.3),
        "corner tap": np.ones((2, 64)),
        "there and back": np.stack([np.abs(np.linspace(-1, 1, 64)), np.full(64, 0.5)]),
        "tremble": 0.3 + rng.choice([-3e-8, 0, 3e-8], (2, 64)),
    }[kind]
    return np.repeat(path[None], batch, axis=0).astype(np.float32)


def layouts(keys, batch):
    """Random layouts of ``keys`` keys, padded: [batch, 64, 2] and [batch, 64]."""
    centres = np.zeros((batch, 64, 2), dtype=np.float32)
    centres[:, :keys] = np.random.default_rng(keys).random((batch, keys, 2))
    return centres, np.broadcast_to(np.arange(64) < keys, (batch, 64)).copy()


def run(session, path, keys, mask):
    return session.run(OUTPUTS, dict(zip(INPUTS, (path, keys, mask), strict=True)))


@pytest.mark.parametrize(
    ("kind", "keys", "batch"), [*((kind, 26, 5) for kind in KINDS), ("swipe", 1, 1), ("swipe", 64, 2)]
)
def test_the_file_computes_what_torch_computes(written, kind, keys, batch):
    encoder, _, session = written
    given = paths(kind, batch), *layouts(keys, batch)
    with torch.inference_mode():
        expected = encoder(*map(torch.from_numpy, given))
    log_probs, coefficients, gate = run(session, *given)
    real = np.append(given[2][0], True)  # log-probabilities of padded keys, -1e4, have too few digits to compare
    np.testing.assert_allclose(log_probs[..., real], expected.log_probs.numpy()[..., real], atol=1e-4)
    np.testing.assert_allclose(coefficients, expected.coefficients.numpy(), atol=1e-4)
    np.testing.assert_allclose(gate, expected.gate.numpy(), atol=1e-4)
    assert np.ptp(coefficients) > 0.1  # two constants would be alike too easily


def test_emissions_sum_to_one_and_padded_keys_get_none(written):
    probabilities = np.exp(run(written[2], paths("swipe", 2), *layouts(31, 2))[0])
    np.testing.assert_allclose(probabilities.sum(-1), 1, atol=1e-5)
    assert (probabilities[..., 31:64] == 0).all()


@pytest.mark.parametrize("logit", [-120.0, 120.0])
def test_extreme_gates_stay_finite(written, logit):
    model = onnx.load(written[1])
    (bias,) = (tensor for tensor in model.graph.initializer if tensor.name == "heads.bias")
    values = onnx.numpy_helper.to_array(bias).copy()
    values[-1] = logit
    bias.CopyFrom(onnx.numpy_helper.from_array(values, "heads.bias"))
    log_probs, _, gate = run(open_session(model), paths("swipe", 1), *layouts(26, 1))
    assert np.isfinite(log_probs).all()
    np.testing.assert_allclose(np.exp(log_probs).sum(-1), 1, atol=1e-5)
    if written[0].config.blank == "gate":
        np.testing.assert_allclose(log_probs[..., -1], -np.logaddexp(0, gate), atol=1e-4)


def test_the_file_is_small_whole_and_clean(written):
    encoder, path, _ = written
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    operations = {node.op_type for node in model.graph.node}
    assert not operations & {"BatchNormalization", "Cast", "Identity", "Shape", "Range", "ConstantOfShape", "Constant"}
    assert not [tensor for tensor in model.graph.initializer if tensor.data_location]
    used = {name for node in model.graph.node for name in node.input}
    assert {tensor.name for tensor in model.graph.initializer} <= used
    assert b"/glissando/" not in path.read_bytes()  # no stack trace of the machine that exported it
    assert list(path.parent.iterdir()) == [path]
    if encoder.config == EncoderConfig():
        assert path.stat().st_size <= 2_650_000


def test_a_missing_exporter_and_an_unknown_precision_are_named(tmp_path, monkeypatch):
    with pytest.raises(WeightsError, match="no precision 'fp8' for ONNX; there are fp32, fp16, int8"):
        export_encoder(small_encoder(), tmp_path / "encoder.onnx", "fp8")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"glissando\[export\]"):
        export_encoder(small_encoder(), tmp_path / "encoder.onnx")
    assert not list(tmp_path.iterdir())


def test_a_decoder_of_the_reports_size(tmp_path):
    full = {name: getattr(DecoderConfig(), name) for name in ("hidden", "bottleneck", "context", "blocks")}
    decoder, path = small_decoder(**full), tmp_path / "decoder.onnx"
    export_decoder(decoder, path)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    wanted = {"Gemm": 18, "MatMul": 0, "Conv": 8, "InstanceNormalization": 8, "LayerNormalization": 0, "Mul": 0}
    assert {kind: sum(node.op_type == kind for node in model.graph.node) for kind in wanted} == wanted
    assert path.stat().st_size <= 1_300_000
    session = open_session(model)
    for batch in (1, 5):
        log_probs = torch.log_softmax(4 * torch.randn(batch, 64, 27), dim=-1)
        given = EncoderOutput(log_probs, torch.randn(batch, 64, 64), 3 * torch.randn(batch, 64))
        with torch.inference_mode():
            expected = decoder(frame_features(given)).numpy()
        feed = dict(zip(OUTPUTS, (part.numpy() for part in given), strict=True))
        np.testing.assert_allclose(session.run(CORRECTED, feed)[0], expected, atol=1e-4)


def outputs(model):
    """The first output of a model for inputs of the shapes that it names."""
    session, rng, feed = open_session(model), np.random.default_rng(0), {}
    for entry in session.get_inputs():
        shape = [1, *entry.shape[1:]]
        values = np.ones(shape, bool) if entry.type == "tensor(bool)" else rng.random(shape, dtype=np.float32)
        feed[entry.name] = values if entry.name != "log_emissions" else np.log(values)
    return session.run(None, feed)[0]


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_half_precision_halves_the_blocks_matrices_and_nothing_else(exported, kind):
    full, half = (onnx.load(exported.folder / f"{kind}.onnx") for _ in range(2))
    inner = ("value", "gate", "project") if kind == "encoder" else ("narrow", "widen")
    names = {f"blocks.{i}.{name}.weight" for i in range(2) for name in inner}
    names |= set() if kind == "encoder" else {"project.weight"}
    assert {node.input[1] for node in large_products(full)} == names
    half = reduce_precision(half, "fp16")
    stored = {tensor.name: tensor for tensor in half.graph.initializer}
    assert {name for name, tensor in stored.items() if tensor.data_type == TensorProto.FLOAT16} == {
        f"{name}.half" for name in names
    }
    for tensor in full.graph.initializer:
        exact = onnx.numpy_helper.to_array(tensor)
        kept = onnx.numpy_helper.to_array(stored[f"{tensor.name}.half" if tensor.name in names else tensor.name])
        np.testing.assert_array_equal(kept, exact.astype(np.float16) if tensor.name in names else exact)
    one, other = outputs(full), outputs(half)
    assert 0 < np.abs(one - other).max() < 5e-3 * (1 + np.abs(one).max())


def test_integers_make_the_file_smaller_and_change_the_outputs_more(exported):
    full, whole = (onnx.load(exported.folder / "encoder.onnx") for _ in range(2))
    level = logging.root.level
    model = reduce_precision(full, "int8")
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("MatMulInteger") == 3  # value, gate and project of all blocks but the first
    assert model.ByteSize() < whole.ByteSize()
    assert 0 < np.abs(outputs(whole) - outputs(model)).max() < 1
    assert logging.root.level == level
    assert reduce_precision(whole, "fp32") is whole


def test_a_matcher_takes_any_number_of_swipes_finalists_and_letters(exported):
    matcher, session = exported.matcher, open_session((exported.folder / "matcher.onnx").read_bytes())
    torch.manual_seed(0)
    for batch, finalists, letters in ((1, 1, 1), (1, 16, 8), (3, 5, 20)):
        path, keys = torch.randn(batch, 64, 2), 3 * torch.randn(batch, finalists, letters, 2)
        mask = torch.arange(letters) < torch.randint(1, letters + 1, (batch, finalists, 1))
        (scores,) = session.run(None, {"path": path.numpy(), "keys": keys.numpy(), "mask": mask.numpy()})
        np.testing.assert_allclose(scores, matcher(path, keys, mask).detach(), atol=1e-5)
