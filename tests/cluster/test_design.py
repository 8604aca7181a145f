"""Searching for keyboards on a cluster."""

import json
import os
import signal
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from command import refused, run
from design.fakes import ALPHABET

pytest.importorskip("torch", reason="torch is not installed: pip install 'glissando[train]'")

from glissando.cluster import connection, design
from glissando.cluster.design import design_on_cluster
from glissando.design.config import DesignRequest, SearchConfig
from glissando.design.words import SearchWords
from glissando.errors import DesignError
from glissando.layout import load_layout

WORDS = {"the": 5.0, "of": 3.0, "stream": 1.0, "a": 2.0, "all": 1.0}
QUICK = SearchConfig(climbers=1, rounds=4, swaps=6, combos=2, keep=3, memo_bits=12, checkpoint_seconds=0.0)


@pytest.fixture
def request_(tmp_path):
    words = tmp_path / "words.npz"
    SearchWords.from_weights(WORDS, ALPHABET).save(words)
    return DesignRequest(out=tmp_path / "out", grid="4-6-6-6-4", words=words, name="found")


def quietly(*_):
    pass


def found(folder):
    """What a search found, without what depends on the clock and on the memory of words."""
    account = json.loads((folder / "search.json").read_text())
    for name in ("seconds", "swipes", "lookups"):
        account["tally"].pop(name)
    kept = {name: account[name] for name in ("cost", "clarity", "travel", "rows", "tally", "processes")}
    states = [json.loads(path.read_text()) for path in sorted(folder.glob("state-*.json"))]
    return kept, json.loads((folder / "front.json").read_text()), [(one["climbers"], one["archive"]) for one in states]


def searchers():
    """The processes of this cluster that search: children of a child of ours, with the name of their task."""
    parent = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    mine = [pid for pid, by in parent.items() if parent.get(by) == os.getpid()]
    return [pid for pid in mine if b"_search" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_the_result_depends_on_the_processes_not_on_how_many_run_at_once(cluster, request_, tmp_path):
    seen = []
    both = design_on_cluster(cluster, request_, QUICK, lambda progress, _: seen.append(progress), processes=2)
    assert seen[-1].tally.layouts > 0
    assert load_layout(request_.out / "layout.json") == both.layout

    class Idler:
        def ready(self):
            return True

    idler = cluster.ray.remote(Idler).options(num_cpus=1).remote()  # one processor is left
    cluster.ray.get(idler.ready.remote())
    one = replace(request_, out=tmp_path / "one")
    design_on_cluster(replace(cluster, workers=1), one, QUICK, quietly, processes=2)
    cluster.ray.kill(idler)
    assert found(one.out) == found(request_.out)
    kept, _, states = found(one.out)
    assert kept["processes"] == 2
    assert states[0] != states[1]
    assert kept["tally"]["rounds"] == 4
    with pytest.raises(DesignError, match="holds a search; continue it by --resume"):
        design_on_cluster(cluster, one, QUICK, quietly, processes=2)
    with pytest.raises(DesignError, match=r"state-0\.json, of a search with another number of processes than 1"):
        design_on_cluster(cluster, replace(one, resume=True), QUICK, quietly, processes=1)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc")
def test_a_process_that_dies_continues_from_its_checkpoint(cluster, request_, tmp_path, monkeypatch):
    config, killed = replace(QUICK, rounds=60), []
    monkeypatch.setattr(design, "LOOK_SECONDS", 0.05)

    def kill(progress, _):
        if not killed and progress.tally.rounds < 50 and (alive := searchers()):
            killed.append(alive[0])
            os.kill(alive[0], signal.SIGKILL)

    design_on_cluster(cluster, request_, config, kill, processes=2)
    assert killed
    whole = replace(request_, out=tmp_path / "whole")
    design_on_cluster(cluster, whole, config, quietly, processes=2)
    assert found(whole.out) == found(request_.out)


def test_an_interrupt_keeps_the_best_so_far_and_the_search_can_be_resumed(cluster, request_):
    def stop(*_):
        raise KeyboardInterrupt

    result = design_on_cluster(cluster, request_, replace(QUICK, rounds=100_000), stop, processes=3)
    assert result.interrupted
    assert json.loads((request_.out / "search.json").read_text())["interrupted"]
    assert len(load_layout(request_.out / "layout.json").keys) == 26
    states = [json.loads(path.read_text()) for path in request_.out.glob("state-*.json")]
    rounds = max(state["tally"]["rounds"] for state in states)
    assert rounds < 100_000
    more = replace(QUICK, rounds=rounds + 2)
    again = design_on_cluster(cluster, replace(request_, resume=True), more, quietly, processes=3)
    assert not again.interrupted
    assert again.best.total(QUICK.dial) <= result.best.total(QUICK.dial)
    assert again.tally.rounds == rounds + 2


def test_bad_input_is_one_line(cluster, request_, tmp_path):
    with pytest.raises(DesignError, match="not on cuda; for GPUs there is torchrun"):
        design_on_cluster(cluster, replace(request_, device="cuda"), QUICK, quietly)
    with pytest.raises(DesignError, match="nothing to resume"):
        design_on_cluster(cluster, replace(request_, resume=True), QUICK, quietly)
    with pytest.raises(DesignError, match="must be on storage that all nodes share"):
        design._check_shared(tmp_path / "elsewhere")
    assert "those of a --cluster" in refused("design", "--grid", "4-6-6-6-4", "--processes", 2)


def test_the_command(cluster, tmp_path, monkeypatch):
    @contextmanager
    def joined(address, workers):
        yield cluster

    monkeypatch.setattr(connection, "connect", joined)
    (tmp_path / "words.txt").write_text("the 9\nof 8\nstream 2\na 3\n")
    settings = [part for name in ("climbers=1", "rounds=1", "swaps=4", "memo_bits=12") for part in ("--set", name)]
    where = ("--out", tmp_path / "out", "--lexicon", tmp_path / "words.txt", "--cluster", "auto", "--processes", 2)
    result = run("design", "--grid", "4-6-6-6-4", *where, *settings)
    assert result.code == 0, result
    assert "round 1" in result.err
    assert "layouts judged on every word" in result.out
    assert json.loads((tmp_path / "out" / "search.json").read_text())["processes"] == 2
