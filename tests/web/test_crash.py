"""``kill -9`` among donors, twice; runs/web_kill.py does it ten times."""

import importlib.util
import sys
from pathlib import Path

RUNS = Path(__file__).resolve().parents[2] / "runs"


def test_every_acknowledged_swipe_survives_a_kill_once(store_url, tiny_weights):
    spec = importlib.util.spec_from_file_location("web_kill", RUNS / "web_kill.py")
    assert spec is not None
    assert spec.loader is not None
    web_kill = importlib.util.module_from_spec(spec)
    sys.modules["web_kill"] = web_kill
    spec.loader.exec_module(web_kill)
    lines = web_kill.run(store_url, str(tiny_weights), rounds=2, donors=20, words=(20, 40))
    assert len(lines) == 2
