import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import lines, row

WORDS = ["hello", "world", "its", "swipe", "the", "keyboard"]


def test_a_node_that_is_lost_costs_nothing_but_time(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed")
    (tmp_path / "words.txt").write_text("\n".join(WORDS))
    (tmp_path / "swipes.jsonl").write_bytes(lines([row(word) for word in WORDS * 12]))
    script = [sys.executable, str(Path(__file__).with_name("two_nodes.py"))]
    places = [str(tmp_path / name) for name in ("swipes.jsonl", "words.txt", "out")]
    done = subprocess.run([*script, *places], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"rows": 72, "failed": 0, "blocks": 12, "blocks_before": 0}
    answers = [json.loads(line) for part in sorted((tmp_path / "out").glob("part-*")) for line in part.open()]
    assert [answer["row"] for answer in answers] == list(range(1, 73))
    assert [answer["candidates"][0]["word"] for answer in answers] == WORDS * 12
