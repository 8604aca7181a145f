import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from design.fakes import ALPHABET

from glissando.design.config import DesignRequest, SearchConfig
from glissando.design.run import design
from glissando.design.words import SearchWords
from glissando.errors import DesignError
from glissando.layout import load_layout

SCRIPT = Path(__file__).resolve().parents[2] / "runs" / "design_search.py"
WORDS = {"the": 5.0, "of": 3.0, "stream": 1.0, "a": 2.0, "all": 1.0}
QUICK = SearchConfig(climbers=1, rounds=2, swaps=6, combos=2, keep=3, memo_bits=12)


@pytest.fixture
def request_(tmp_path, tiny_weights):
    words = tmp_path / "words.npz"
    SearchWords.from_weights(WORDS, ALPHABET).save(words)
    return DesignRequest(
        out=tmp_path / "out", grid="4-6-6-6-4", words=words, weights=str(tiny_weights), name="found", device="cpu"
    )


def quietly(*_):
    pass


def test_a_search_leaves_a_layout_that_loads_its_picture_and_its_account(request_):
    seen = []
    result = design(request_, QUICK, lambda progress, layout: seen.append((progress.tally.rounds, layout.name)))
    layout = load_layout(request_.out / "layout.json")
    assert layout == result.layout
    assert sorted(layout.letters) == list(ALPHABET)
    assert (request_.out / "layout.svg").read_text().startswith("<svg")
    account = json.loads((request_.out / "search.json").read_text())
    assert account["cost"] == pytest.approx(account["clarity"] + QUICK.dial * account["travel"])
    assert set(account["peers"]) == {"kasroz", "clearflow"}
    assert set(account["upright"]) == {"found", "kasroz", "clearflow"}
    assert account["upright"]["found"] == account["clarity"]
    assert account["tally"]["rounds"] == 2
    assert account["words"]["count"] == 5
    front = json.loads((request_.out / "front.json").read_text())
    assert [point["travel"] for point in front] == sorted(point["travel"] for point in front)
    assert seen == [(1, "found"), (2, "found")]
    with pytest.raises(DesignError, match="--resume"):
        design(request_, QUICK, quietly)


def test_an_interrupt_keeps_the_best_so_far_and_the_search_can_be_resumed(request_):
    def stop(progress, _):
        if progress.tally.rounds == 2:
            raise KeyboardInterrupt

    config = replace(QUICK, view="turned")
    result = design(request_, replace(config, rounds=50), stop)
    assert result.interrupted
    assert result.summary(config)[0].startswith("stopped early")
    assert "nats per word upright" in result.summary(config)[-1]
    assert json.loads((request_.out / "search.json").read_text())["interrupted"]
    assert len(load_layout(request_.out / "layout.json").keys) == 26
    more = design(replace(request_, resume=True), replace(config, rounds=3), quietly)
    assert more.tally.rounds == 3


def test_two_processes_share_what_they_find(request_, tmp_path):
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
        str(SCRIPT), "--grid", "4-6-6-6-4", "--device", "cpu",
        "--words", str(request_.words), "--weights", request_.weights,
        "--out", str(tmp_path / "two"), "--set", "climbers=1", "--set", "rounds=1", "--set", "swaps=4",
        "--set", "keep=3", "--set", "combos=2", "--set", "memo_bits=12",
    ]  # fmt: skip
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    account = json.loads((tmp_path / "two" / "search.json").read_text())
    assert account["processes"] == 2
    states = [json.loads((tmp_path / "two" / f"state-{rank}.json").read_text()) for rank in (0, 1)]
    assert account["tally"]["layouts"] == sum(state["tally"]["layouts"] for state in states)
    assert len({tuple(state["climbers"][0]["slots"]) for state in states}) == 2
    best = min(one["clarity"] + QUICK.dial * one["travel"] for state in states for one in state["archive"]["best"])
    assert account["cost"] == pytest.approx(best, abs=1e-3)


def test_the_search_needs_torch_numpy_and_safetensors_alone():
    """As on a GPU machine: the script's --help imports all that a search imports."""
    hidden = "typer rich numba onnx onnxscript onnxruntime wordfreq matplotlib optuna scipy"
    code = f"""
import runpy, sys
class Hide:
    def find_spec(self, name, *_):
        if name.split(".")[0] in {hidden.split()!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
sys.argv = ["design_search.py", "--help"]
runpy.run_path({str(SCRIPT)!r}, run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--grid" in done.stdout
