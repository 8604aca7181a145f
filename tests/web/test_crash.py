"""``kill -9`` among donors, twice; runs/web_kill.py does it ten times."""

import runpy
from pathlib import Path

RUNS = Path(__file__).resolve().parents[2] / "runs"


def test_every_acknowledged_swipe_survives_a_kill_once_and_nothing_withdrawn_comes_back(store_url, tiny_weights):
    kill = runpy.run_path(str(RUNS / "web_kill.py"))["run"]
    lines = kill(store_url, str(tiny_weights), rounds=2, donors=12, words=(24, 36), withdraw=0.1)
    assert len(lines) == 2
    assert "withdrawn" in lines[-1]
