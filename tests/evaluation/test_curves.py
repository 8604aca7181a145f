import json

import pytest

from glissando.errors import TrainingError
from glissando.evaluation.curves import draw_curves, read_curve


@pytest.fixture
def metrics(tmp_path):
    lines = [
        {"step": 0, "epoch": 0.0, "val_ctc_per_letter": 0.5, "val_top1": 0.8},
        {"step": 5, "epoch": 0.5, "ctc": 0.4},
        {"step": 10, "epoch": 1.0, "ctc": 0.3, "val_ctc_per_letter": 0.3, "val_top1": 0.9},
        {"step": 20, "epoch": 2.0, "ctc": 0.1, "val_ctc_per_letter": 0.4, "val_top1": 0.85},
    ]
    file = tmp_path / "metrics.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def test_a_curve_is_where_it_was_measured(metrics):
    curve = read_curve(metrics, "val_ctc_per_letter")
    assert curve.epochs.tolist() == [0, 1, 2]
    assert curve.summary(lower=True) == (0.3, 1.0, pytest.approx(0.1))
    assert read_curve(metrics, "val_top1").summary(lower=False) == (0.9, 1.0, pytest.approx(0.05))
    assert read_curve(metrics, "ctc").epochs.tolist() == [0.5, 1, 2]


def test_what_is_not_there_is_named(metrics, tmp_path):
    with pytest.raises(TrainingError, match="has no measure 'loss'"):
        read_curve(metrics, "loss")
    with pytest.raises(TrainingError, match="cannot read"):
        read_curve(tmp_path / "none.jsonl", "loss")


def test_a_picture_comes_out(metrics, tmp_path):
    pytest.importorskip("matplotlib")
    files = draw_curves({"one": metrics, "two": metrics}, ["val_ctc_per_letter", "val_top1"], tmp_path / "new/curves")
    assert [file.suffix for file in files] == [".png", ".svg"]
    assert all(file.stat().st_size > 1000 for file in files)
    assert "validation CTC per letter" in files[1].read_text() or files[1].stat().st_size > 5000
