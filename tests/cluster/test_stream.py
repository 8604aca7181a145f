import json

import clusterjobs
import pytest
from clusterjobs import Numbers, Unable

from glissando.cluster.progress import Meter, Progress
from glissando.cluster.stream import Run, Task, run_blocks, run_tasks
from glissando.corpus.blocks import Block
from glissando.errors import CorpusError


@pytest.fixture(scope="module", autouse=True)
def _carried(cluster):
    """Send the work itself to the workers, which do not know this folder."""
    cluster.ray.cloudpickle.register_pickle_by_value(clusterjobs)
    yield
    cluster.ray.cloudpickle.unregister_pickle_by_value(clusterjobs)


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def answered(cluster, job, files, rows=5, **more):
    """Answers by file and block."""
    answers = {}
    for answer in run_blocks(Run(cluster, files, rows), job, **more):
        assert (answer.file, answer.number) not in answers  # once
        answers[answer.file, answer.number] = answer.result
    return answers


def test_every_block_is_answered_once_and_done_ones_are_left_out(cluster, tmp_path):
    files = [
        written(tmp_path / "a.jsonl", [{"value": value} for value in range(12)]),
        written(tmp_path / "b.jsonl", [{"value": "b"}]),
    ]
    found = answered(cluster, Numbers(tmp_path), files)
    assert found == {(0, 0): [0, 1, 2, 3, 4], (0, 1): [5, 6, 7, 8, 9], (0, 2): [10, 11], (1, 0): ["b"]}
    assert answered(cluster, Numbers(tmp_path), files, done={0: {0, 2}, 1: {0}}) == {(0, 1): [5, 6, 7, 8, 9]}


def test_a_worker_that_is_killed_costs_nothing(cluster, tmp_path):
    rows = [{"value": value} for value in range(30)]
    rows[7]["kill"] = "once"
    found = answered(cluster, Numbers(tmp_path), [written(tmp_path / "a.jsonl", rows)])
    assert [value for _, values in sorted(found.items()) for value in values] == list(range(30))


def test_a_row_that_always_kills_is_found_and_left_out(cluster, tmp_path):
    rows = [{"value": value} for value in range(8)]
    rows[6]["kill"] = "always"
    found = answered(cluster, Numbers(tmp_path), [written(tmp_path / "a.jsonl", rows)])
    assert found == {(0, 0): [0, 1, 2, 3, 4], (0, 1): [5, "deadly", 7]}


def test_an_error_ends_the_job_in_its_own_words(cluster, tmp_path):
    file = written(tmp_path / "a.jsonl", [{"value": 1}, {"fail": True}])
    with pytest.raises(CorpusError, match=r"^row 2 fails$"):
        answered(cluster, Numbers(tmp_path), [file])
    with pytest.raises(CorpusError, match="there is no keyboard"):
        answered(cluster, Unable(), [file])
    (tmp_path / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(CorpusError, match=r"cut\.jsonl\.gz:1: the gzip file is cut off here"):
        answered(cluster, Numbers(tmp_path), [str(tmp_path / "cut.jsonl.gz")])


def test_tasks_of_any_kind(cluster, tmp_path):
    tasks = [Task(0, number, Block("x", 0, 1, b'{"value": %d}' % number)) for number in range(3)]
    assert sorted(answer.result for answer in run_tasks(cluster, Numbers(tmp_path), tasks)) == [[0], [1], [2]]
    assert list(run_tasks(cluster, Numbers(tmp_path), [])) == []


def test_progress_is_an_estimate_by_bytes(tmp_path):
    files = [written(tmp_path / "a", [{}] * 3), written(tmp_path / "b", [{}])]
    seen: list[Progress] = []
    meter = Meter("counting", files, seen.append)
    meter.count(0, 2 / 3, 20, 1)
    meter.count(1, 1.0, 10)
    assert [round(one.share, 2) for one in seen] == [0.5, 0.75]
    assert str(Progress("decoding", 300, 2, 0.25, 60)) == (
        "decoding: 300 rows, 5 a second, 900 left, 3 min 00 s, 2 failed"
    )
    assert str(Progress("decoding", 300, 0, 1.0, 60)) == "decoding: 300 rows, 5 a second, 0 failed"
