"""The GPU machine has torch, numpy and safetensors alone; training must import and run with these."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = ("typer", "rich", "numba", "optuna", "onnx", "onnxruntime", "scipy", "matplotlib", "pooch", "huggingface_hub")
RUNS = Path(__file__).parents[2] / "runs"
CODE = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({BLOCKED}))  # importing them now fails
runpy.run_path({str(RUNS / "train.py")!r}, run_name="__main__")
"""


def train(*arguments: object) -> subprocess.CompletedProcess:
    """Run runs/train.py without the packages of the command line."""
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_script_trains_with_torch_numpy_and_safetensors_alone(kit, tmp_path):
    files = ["--pack", kit.pack, "--val", kit.val, "--encoder", kit.encoder, "--negatives", kit.negatives]
    settings = ["--set=batch=16", "--set=steps=2", "--set=model.hidden=8", "--set=model.blocks=1"]
    done = train("decoder", *files, *settings, "--device", "cpu", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "val_top1" in done.stdout
    assert (tmp_path / "run/decoder.safetensors").exists()


def test_an_error_is_one_line(tmp_path, monkeypatch, capsys):
    arguments = ["encoder", "--pack", tmp_path / "none.npz", "--out", tmp_path / "run", "--set", "bach=3"]
    monkeypatch.setattr(sys, "argv", ["train.py", *map(str, arguments)])
    with pytest.raises(SystemExit, match="1"):
        runpy.run_path(str(RUNS / "train.py"), run_name="__main__")
    assert capsys.readouterr().err.startswith("glissando: no setting bach")
