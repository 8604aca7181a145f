import json
import subprocess
import sys

import pytest
from command import lines, refused, row, run


def test_without_the_option_nothing_of_ray_is_imported(tmp_path):
    (tmp_path / "words.txt").write_text("hello\nworld")
    (tmp_path / "swipes.jsonl").write_bytes(lines([row("hello"), row("world")]))
    code = (
        "import sys; from glissando.cli import main; sys.argv[0] = 'glissando'\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "found = [name for name in sys.modules if name.split('.')[0] == 'ray' or name == 'glissando.cluster']\n"
        "print(found, file=sys.stderr)"
    )
    for command in (["evaluate"], ["decode"], ["corpus", "stats"]):
        options = ["--lexicon", str(tmp_path / "words.txt")] if command[0] != "corpus" else []
        arguments = [*command, str(tmp_path / "swipes.jsonl"), *options]
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
        assert done.stderr.splitlines()[-1] == "[]"


def test_where_results_go_must_be_said(tmp_path):
    (tmp_path / "swipes.jsonl").write_bytes(lines([row("hello")]))
    assert "give both" in refused("decode", tmp_path / "swipes.jsonl", "--cluster", "local")
    assert "give both" in refused("decode", tmp_path / "swipes.jsonl", "-o", tmp_path / "out")
    assert "give both" in refused("decode", "-", "--cluster", "local", "-o", tmp_path / "out")
    assert "give both" in refused("evaluate", tmp_path / "swipes.jsonl", "--parts", tmp_path / "out")


def test_commands_on_a_cluster(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.chdir(tmp_path)  # workers start elsewhere, so paths must be made whole
    (tmp_path / "words.txt").write_text("hello\nworld")
    (tmp_path / "swipes.jsonl").write_bytes(lines([row("hello"), row("world"), {"x": 1}]))
    done = run("decode", "swipes.jsonl", "--lexicon", "words.txt", "--cluster", "local", "--workers", 1, "-o", "out")
    assert done.out == "out: 3 rows in 1 blocks, 1 rows failed\n", done
    assert "decoding: 3 rows" in done.err
    answers = [json.loads(line) for line in (tmp_path / "out" / "part-00000-0000000.jsonl").open()]
    assert [answer.get("candidates", [{}])[0].get("word") for answer in answers] == ["hello", "world", None]
