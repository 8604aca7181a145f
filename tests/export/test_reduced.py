"""Smaller ONNX files: what shrinks, what does not, and how far the numbers move."""

import logging
import shutil

import numpy as np
import pytest

pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxscript")

import onnxruntime  # noqa: E402
from networks import small_decoder, small_encoder  # noqa: E402
from onnx import TensorProto  # noqa: E402

from glissando.errors import WeightsError  # noqa: E402
from glissando.export.onnx import export_decoder, export_encoder  # noqa: E402
from glissando.export.reduced import large_products, reduce_file  # noqa: E402


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Encoder and decoder in full precision."""
    folder = tmp_path_factory.mktemp("reduced")
    export_encoder(small_encoder(), folder / "encoder.onnx")
    export_decoder(small_decoder(), folder / "decoder.onnx", frames=32)
    return {kind: folder / f"{kind}.onnx" for kind in ("encoder", "decoder")}


@pytest.fixture
def reduced(files, tmp_path):
    """A function from kind and precision to a reduced copy."""

    def reduce(kind, precision):
        path = tmp_path / f"{kind}.{precision}.onnx"
        shutil.copy(files[kind], path)
        reduce_file(path, precision)
        return path

    return reduce


def outputs(path):
    """What a file says of inputs that its graph describes."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    feed = {}
    for entry in session.get_inputs():
        shape = [1, *entry.shape[1:]]
        values = np.ones(shape, bool) if entry.type == "tensor(bool)" else rng.random(shape, dtype=np.float32)
        feed[entry.name] = values if entry.name != "log_emissions" else np.log(values)
    return session.run(None, feed)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_the_large_products_are_those_of_the_blocks(files, kind):
    weights = [node.input[1] for node in large_products(onnx.load(files[kind]))]
    inner = ("value", "gate", "project") if kind == "encoder" else ("narrow", "widen")
    blocks = [f"blocks.{i}.{name}.weight" for i in range(4 if kind == "encoder" else 2) for name in inner]
    first = [] if kind == "encoder" else ["project.weight"]
    assert sorted(weights) == sorted([*first, *blocks])


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_half_precision_moves_the_outputs_by_no_more_than_its_rounding(files, reduced, kind):
    path = reduced(kind, "fp16")
    for one, other in zip(outputs(files[kind]), outputs(path), strict=True):
        assert 0 < np.abs(one - other).max() < 5e-3 * (1 + np.abs(one).max())


def test_half_precision_stores_matrices_in_half_and_the_rest_as_it_was(files, reduced):
    before = {tensor.name: tensor for tensor in onnx.load(files["encoder"]).graph.initializer}
    after = {tensor.name: tensor for tensor in onnx.load(reduced("encoder", "fp16")).graph.initializer}
    halved = {name.removesuffix(".half") for name, tensor in after.items() if tensor.data_type == TensorProto.FLOAT16}
    assert halved == {node.input[1] for node in large_products(onnx.load(files["encoder"]))}
    for name, tensor in before.items():
        kept = after[f"{name}.half" if name in halved else name]
        exact = onnx.numpy_helper.to_array(tensor)
        np.testing.assert_array_equal(
            onnx.numpy_helper.to_array(kept), exact.astype(np.float16) if name in halved else exact
        )


def test_integers_make_the_file_smaller_still_and_move_the_outputs_more(files, reduced):
    level = logging.root.level
    sizes = [files["encoder"].stat().st_size] + [reduced("encoder", p).stat().st_size for p in ("fp16", "int8")]
    assert sizes[0] > sizes[1] > sizes[2]
    model = onnx.load(reduced("encoder", "int8"))
    kinds = [node.op_type for node in model.graph.node]
    assert kinds.count("MatMulInteger") == 3 * 3  # value, gate and project of all blocks but the first
    exact, rough = outputs(files["encoder"])[0], outputs(reduced("encoder", "int8"))[0]
    assert 0 < np.abs(exact - rough).max() < 1
    assert logging.root.level == level


def test_full_precision_leaves_the_file_alone(files, reduced):
    assert reduced("decoder", "fp32").read_bytes() == files["decoder"].read_bytes()


def test_an_unknown_precision_is_refused(files):
    with pytest.raises(WeightsError, match="no precision 'fp8' for ONNX; there are fp32, fp16, int8"):
        reduce_file(files["encoder"], "fp8")
