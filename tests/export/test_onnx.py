import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn

from glissando.errors import MissingExtraError
from glissando.export.onnx import (
    DECODER_INPUTS,
    DECODER_OUTPUTS,
    INPUTS,
    OUTPUTS,
    export_decoder,
    export_encoder,
)
from glissando.model.config import DecoderConfig, EncoderConfig
from glissando.model.decoder import Decoder, frame_features
from glissando.model.emissions import Emissions
from glissando.model.encoder import Encoder

SMALL = {"width": 16, "hidden": 32, "dilations": (1, 5)}
CONFIGS = {
    "default": EncoderConfig(),
    "64 frames": EncoderConfig(**SMALL, frames=64),
    "grid, joint": EncoderConfig(**SMALL, basis="grid", blank="joint", resolution=5),
}


def awake(config):
    """An encoder whose zero-initialised parts and batch statistics are not those of step zero."""
    torch.manual_seed(0)
    encoder = Encoder(config)
    for name, parameter in encoder.named_parameters():
        if name.startswith("heads") or "response" in name or "norm" in name:
            nn.init.normal_(parameter, mean=0.1, std=0.3)
    for module in encoder.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.running_mean.normal_(std=0.2)
            module.running_var.uniform_(0.3, 2)
    return encoder.eval()


@pytest.fixture(scope="module", params=CONFIGS)
def exported(request, tmp_path_factory):
    """An encoder and the file it was exported to."""
    encoder = awake(CONFIGS[request.param])
    path = tmp_path_factory.mktemp("onnx") / "encoder.onnx"
    export_encoder(encoder, path)
    return encoder, path


@pytest.fixture(scope="module")
def session(exported):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(exported[1], options, providers=["CPUExecutionProvider"])


def paths(kind, batch):
    """Paths [batch, 2, 64] of one kind."""
    rng = np.random.default_rng(5)
    line = np.linspace(0, 1, 64)
    there = np.abs(2 * line - 1)
    made = {
        "random": rng.random((2, 64)),
        "swipe": np.clip(0.5 + rng.normal(0, 0.02, (2, 64)).cumsum(1), 0, 1),
        "tap": np.full((2, 64), 0.3),
        "corner tap": np.ones((2, 64)),
        "line": np.stack([0.1 + 0.7 * line, 0.9 - 0.3 * line]),
        "there and back": np.stack([there, np.full(64, 0.5)]),
        "right angle": np.stack([np.minimum(2 * line, 1), np.maximum(2 * line - 1, 0)]),
        "dwell, then go": np.stack([0.2 + np.maximum(line - 0.5, 0), np.full(64, 0.2)]),
        "trembling tap": 0.3 + rng.choice([-3e-8, 0, 3e-8], (2, 64)),
    }[kind]
    return np.repeat(made[None], batch, axis=0).astype(np.float32)


def layouts(keys, batch):
    """Random layouts of ``keys`` keys, padded: [batch, 64, 2] and [batch, 64]."""
    centres = np.zeros((batch, 64, 2), dtype=np.float32)
    centres[:, :keys] = np.random.default_rng(keys).random((batch, keys, 2))
    return centres, np.broadcast_to(np.arange(64) < keys, (batch, 64)).copy()


def run(session, path, keys, mask):
    return session.run(OUTPUTS, dict(zip(INPUTS, (path, keys, mask), strict=True)))


def assert_like_torch(exported, session, path, keys, mask):
    with torch.inference_mode():
        expected = exported[0](*(torch.from_numpy(array) for array in (path, keys, mask)))
    got = run(session, path, keys, mask)
    real = np.append(mask[0], True)  # log-probabilities of padded keys, -1e4, have too few digits to compare
    np.testing.assert_allclose(got[0][..., real], expected.log_probs.numpy()[..., real], atol=1e-4)
    np.testing.assert_allclose(got[1], expected.coefficients.numpy(), atol=1e-4)
    np.testing.assert_allclose(got[2], expected.gate.numpy(), atol=1e-4)
    assert np.ptp(got[1]) > 0.1  # two constants would be easily alike


@pytest.mark.parametrize(
    "kind",
    [
        "random",
        "swipe",
        "tap",
        "corner tap",
        "line",
        "there and back",
        "right angle",
        "dwell, then go",
        "trembling tap",
    ],
)
@pytest.mark.parametrize("batch", [1, 5])
def test_file_says_what_torch_says(exported, session, kind, batch):
    assert_like_torch(exported, session, paths(kind, batch), *layouts(26, batch))


@pytest.mark.parametrize("keys", [1, 31, 64])
def test_any_number_of_keys(exported, session, keys):
    assert_like_torch(exported, session, paths("swipe", 2), *layouts(keys, 2))


def test_batch_of_several_layouts(exported, session):
    path = np.concatenate([paths("swipe", 1), paths("random", 1), paths("tap", 1)])
    keys, mask = (np.concatenate(parts) for parts in zip(layouts(26, 1), layouts(31, 1), layouts(64, 1), strict=True))
    together = run(session, path, keys, mask)
    for row in range(3):
        alone = run(session, path[row : row + 1], keys[row : row + 1], mask[row : row + 1])
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_allclose(one[0], other[row], atol=1e-5, rtol=1e-5)


def test_emissions_sum_to_one_and_padded_keys_get_none(exported, session):
    keys, mask = layouts(31, 2)
    probabilities = np.exp(run(session, paths("swipe", 2), keys, mask)[0])
    np.testing.assert_allclose(probabilities.sum(-1), 1, atol=1e-5)
    assert (probabilities[..., 31:64] == 0).all()


def test_permuting_keys_permutes_emissions(exported, session):
    keys, mask = layouts(40, 1)
    order = np.random.default_rng(0).permutation(64)
    plain = run(session, paths("swipe", 1), keys, mask)[0]
    shuffled = run(session, paths("swipe", 1), keys[:, order], mask[:, order])[0]
    np.testing.assert_allclose(np.exp(shuffled[..., :64]), np.exp(plain[..., order]), atol=1e-5)
    np.testing.assert_allclose(shuffled[..., 64], plain[..., 64], atol=1e-5)


@pytest.mark.parametrize("logit", [-120.0, 120.0])
def test_extreme_gates_stay_finite(exported, logit):
    model = onnx.load(exported[1])
    (bias,) = (tensor for tensor in model.graph.initializer if tensor.name == "heads.bias")
    values = onnx.numpy_helper.to_array(bias).copy()
    values[-1] = logit
    bias.CopyFrom(onnx.numpy_helper.from_array(values, "heads.bias"))
    sure = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    log_probs, _, gate = run(sure, paths("swipe", 1), *layouts(26, 1))
    assert np.isfinite(log_probs).all()
    np.testing.assert_allclose(np.exp(log_probs).sum(-1), 1, atol=1e-5)
    blank = log_probs[..., -1]
    if exported[0].config.blank == "gate":
        np.testing.assert_allclose(blank, -np.logaddexp(0, gate), atol=1e-4)


def test_graph_has_the_reports_shapes(exported, session):
    config = exported[0].config
    assert [(entry.name, entry.shape[1:], entry.type) for entry in session.get_inputs()] == [
        ("features", [2, 64], "tensor(float)"),
        ("layout_keys", [64, 2], "tensor(float)"),
        ("layout_mask", [64], "tensor(bool)"),
    ]
    assert [(entry.name, entry.shape[1:]) for entry in session.get_outputs()] == [
        ("log_emissions", [config.frames, 65]),
        ("coefficients", [config.frames, config.resolution**2]),
        ("gate", [config.frames]),
    ]
    assert {type(entry.shape[0]) for entry in session.get_inputs() + session.get_outputs()} == {str}  # B is free


def test_file_is_small_whole_and_clean(exported):
    config, path = exported[0].config, exported[1]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    operations = {node.op_type for node in model.graph.node}
    assert not operations & {"BatchNormalization", "Cast", "Identity", "Shape", "Range", "ConstantOfShape", "Constant"}
    assert not [tensor for tensor in model.graph.initializer if tensor.data_location]
    used = {name for node in model.graph.node for name in node.input}
    assert {tensor.name for tensor in model.graph.initializer} <= used
    assert b"/glissando/" not in path.read_bytes()  # no stack trace of the machine that exported it
    assert list(path.parent.iterdir()) == [path]
    if config == EncoderConfig():
        assert path.stat().st_size <= 2_650_000


def test_exporting_leaves_encoder_and_random_numbers_alone(tmp_path):
    encoder = awake(EncoderConfig(**{**SMALL, "dilations": (1,)})).train()
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    export_encoder(encoder, tmp_path / "encoder.onnx")
    assert torch.rand(1) == expected
    assert encoder.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.state_dict().items())


def test_missing_exporter_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"glissando\[export\]"):
        export_encoder(Encoder(EncoderConfig(**SMALL)), tmp_path / "encoder.onnx")


@pytest.fixture(scope="module", params=[64, 32])
def exported_decoder(request, tmp_path_factory):
    """A decoder of the report's size, the file it was exported to, and the frames it takes."""
    torch.manual_seed(0)
    decoder = Decoder().eval()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    decoder.mean.normal_()
    path = tmp_path_factory.mktemp("onnx") / "decoder.onnx"
    export_decoder(decoder, path, frames=request.param)
    return decoder, path, request.param


@pytest.mark.parametrize("batch", [1, 5])
def test_the_decoders_file_says_what_torch_says(exported_decoder, batch):
    decoder, path, frames = exported_decoder
    torch.manual_seed(batch)
    log_probs = torch.log_softmax(4 * torch.randn(batch, frames, 27), dim=-1)
    given = Emissions(log_probs, torch.randn(batch, frames, 64), 3 * torch.randn(batch, frames))
    with torch.inference_mode():
        expected = decoder(frame_features(given)).numpy()
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = dict(zip(DECODER_INPUTS, (part.numpy() for part in given), strict=True))
    (got,) = session.run(DECODER_OUTPUTS, feed)
    np.testing.assert_allclose(got, expected, atol=1e-4)
    assert np.abs(got - log_probs.numpy()).max() > 0.1


def test_the_decoders_file_is_small_whole_and_lean(exported_decoder):
    path = exported_decoder[1]
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    wanted = {"Gemm": 18, "MatMul": 0, "Conv": 8, "InstanceNormalization": 8, "LayerNormalization": 0, "Mul": 0}
    assert {kind: sum(node.op_type == kind for node in model.graph.node) for kind in wanted} == wanted
    assert path.stat().st_size <= 1_300_000
    assert b"/glissando/" not in path.read_bytes()


def test_exporting_leaves_decoder_and_random_numbers_alone(tmp_path):
    decoder = Decoder(DecoderConfig(hidden=16, bottleneck=8, blocks=1)).train()
    before = {name: tensor.clone() for name, tensor in decoder.state_dict().items()}
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    export_decoder(decoder, tmp_path / "decoder.onnx")
    assert torch.rand(1) == expected
    assert decoder.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in decoder.state_dict().items())
