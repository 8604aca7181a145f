"""Other runtimes with the interface of onnxruntime's."""

import numpy as np
import pytest

pytest.importorskip("torch")

from glissando.errors import WeightsError
from glissando.export.runners import Program, in_place_of
from glissando.runtime import EncoderRuntime
from glissando.weights import load_weights


def test_a_stand_in_sees_one_swipe_at_a_time_and_leaves_the_original_alone(tiny_weights):
    runtime = EncoderRuntime(load_weights(tiny_weights))
    seen = []

    def forward(path, keys, mask):
        seen.append((path.shape, int(mask.sum())))
        return [np.full((1, 32, 65), path[0, 0, 0]), np.zeros((1, 32, 64)), np.zeros((1, 32))]

    twin = in_place_of(runtime, forward)
    paths = np.arange(3, dtype=np.float32)[:, None, None] * np.ones((3, 2, 64), np.float32)
    found = twin.run(paths, np.full((5, 2), 0.5))
    assert seen == [((1, 2, 64), 5)] * 3
    assert found.log_probs.shape == (3, 32, 6)
    np.testing.assert_array_equal(found.log_probs[:, 0, 0], [0, 1, 2])
    assert twin.frames == runtime.frames == 32
    assert np.exp(runtime.run(paths, np.full((5, 2), 0.5)).log_probs).sum(-1) == pytest.approx(1)


def test_a_damaged_program_is_refused(tmp_path):
    pytest.importorskip("executorch", reason="executorch is not installed")
    (tmp_path / "bad.pte").write_bytes(b"no program" * 100)
    with pytest.raises(WeightsError, match=r"bad\.pte is not a program executorch can run"):
        Program(tmp_path / "bad.pte")
    with pytest.raises(WeightsError, match="what was given is not a program"):
        Program(b"")
