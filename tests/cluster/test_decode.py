import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from command import lines, row, run

from glissando.cluster.decode import DecodeSummary, decode_files
from glissando.cluster.parts import Parts
from glissando.cluster.stream import Run
from glissando.errors import ClusterError, FileError, GlissandoError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.rows import RowOptions

WORDS = ["hello", "world", "its", "swipe", "the", "keyboard"]


@pytest.fixture(scope="module")
def swipes(tmp_path_factory):
    """Swipes of our words with two rows in between that nobody can decode, and the options to decode them."""
    folder = tmp_path_factory.mktemp("swipes")
    (folder / "words.txt").write_text("\n".join(WORDS))
    rows = [row(word) for word in WORDS * 2]
    rows[4] = {"x": [0.1, float("nan")], "y": [0, 0], "t": [0, 1]}
    text = lines(rows).splitlines(keepends=True)
    text[9] = b'{"x": [0.1, \n'
    (folder / "swipes.jsonl").write_bytes(b"".join(text))
    return str(folder / "swipes.jsonl"), EvaluationOptions(lexicon=folder / "words.txt")


def read(folder):
    """All results in the order of the rows."""
    files = sorted(name for name in os.listdir(folder) if name.startswith("part-"))
    return [json.loads(line) for name in files for line in (folder / name).read_text().splitlines()]


def test_every_row_is_answered_once_as_decode_answers_it(cluster, swipes, tmp_path):
    file, options = swipes
    out = tmp_path / "out"
    summary = decode_files(Run(cluster, [file], 5), Parts(str(out), "jsonl"), options, RowOptions(k=2))
    assert summary == DecodeSummary(12, 2, 3, 0)
    answers = read(out)
    assert [answer["row"] for answer in answers] == list(range(1, 13))
    assert "x[1] is NaN" in answers[4]["error"]
    assert "not JSON" in answers[9]["error"]
    alone = tmp_path / "alone.jsonl"
    rows = Path(file).read_bytes().splitlines(keepends=True)
    alone.write_bytes(b"".join(line for number, line in enumerate(rows) if number not in (4, 9)))
    plain = run("decode", alone, "--lexicon", options.lexicon, "--method", "encoder", "-k", 2, "--json")
    expected = [json.loads(line) for line in plain.out.splitlines()]
    assert [{name: answer[name] for name in ("candidates", "none")} for answer in answers if "error" not in answer] == (
        expected
    )


def test_a_second_start_does_what_is_missing_and_another_job_is_refused(cluster, swipes, tmp_path):
    file, options = swipes
    parts, job = Parts(str(tmp_path / "out"), "jsonl"), Run(cluster, [file], 4)
    decode_files(job, parts, options, RowOptions())
    before = read(tmp_path / "out")
    kept = (tmp_path / "out" / "part-00000-0000000.jsonl").stat().st_mtime_ns
    (tmp_path / "out" / "part-00000-0000001.jsonl").unlink()
    assert decode_files(job, parts, options, RowOptions()) == DecodeSummary(4, 1, 1, 2)
    assert read(tmp_path / "out") == before
    assert (tmp_path / "out" / "part-00000-0000000.jsonl").stat().st_mtime_ns == kept
    with pytest.raises(ClusterError, match="holds results of another job: its rows, wishes differ"):
        decode_files(replace(job, rows=5), parts, options, RowOptions(k=1))


def test_results_as_parquet(cluster, swipes, tmp_path):
    from pyarrow import parquet

    file, options = swipes
    decode_files(Run(cluster, [file], 100), Parts(str(tmp_path / "out"), "parquet"), options, RowOptions(k=1))
    table = parquet.read_table(tmp_path / "out" / "part-00000-0000000.parquet").to_pylist()
    assert [one["candidates"][0]["word"] for one in table[:4]] == WORDS[:4]
    assert (table[4]["candidates"], "NaN" in table[4]["error"], table[5]["error"]) == (None, True, None)


def test_what_is_wrong_with_the_options_is_one_line(cluster, swipes, tmp_path):
    file, options = swipes
    job = Run(cluster, [file])
    with pytest.raises(GlissandoError, match=r"no\.txt"):
        decode_files(job, Parts(str(tmp_path / "a"), "jsonl"), EvaluationOptions(lexicon="no.txt"), RowOptions())
    with pytest.raises(GlissandoError, match="give each row its context"):
        decode_files(job, Parts(str(tmp_path / "b"), "jsonl"), options, RowOptions(sentence=True))
    with pytest.raises(GlissandoError, match="no format 'csv'"):
        decode_files(job, Parts(str(tmp_path / "c"), "csv"), options, RowOptions())
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "letter.txt").touch()
    with pytest.raises(ClusterError, match="is not empty and holds no job"):
        decode_files(job, Parts(str(tmp_path / "d"), "jsonl"), options, RowOptions())


def test_a_full_disk_is_one_line_and_a_second_start_goes_on(cluster, swipes, tmp_path):
    file, options = swipes
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        parts = Parts(str(disk / "out"), "jsonl")
        with pytest.raises(FileError, match=r"cannot write .*: No space left on device"):
            decode_files(Run(cluster, [file], 2), parts, options, RowOptions())
        whole = read(disk / "out")  # what is there is whole
        subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
        summary = decode_files(Run(cluster, [file], 2), parts, options, RowOptions())
        assert summary.blocks_before == len(whole) / 2
        assert summary.blocks + summary.blocks_before == 6
        assert [answer["row"] for answer in read(disk / "out")] == list(range(1, 13))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
