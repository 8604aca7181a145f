"""What a cluster costs: rates of one and two workers beside plain processes, memory for a million swipes, a lost node.

    python runs/cluster.py rate --swipes SWIPES.jsonl     # 5 minutes on two quiet cores with 3,000 swipes
    python runs/cluster.py memory --rows 1000000          # 15 minutes on two cores
    python runs/cluster.py node --swipes SWIPES.jsonl     # 3 minutes

Rates are those from the first answer to the last, so that starting Ray and loading keyboards do not count.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from glissando.cluster.connection import Cluster, connect
from glissando.cluster.decode import decode_files
from glissando.cluster.parts import Parts
from glissando.cluster.stream import Run
from glissando.corpus.parquet import row_writer
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.rows import RowOptions
from glissando.layout import load_layout
from glissando.lexicon import load_lexicon
from glissando.synth import swipe

PLAIN = """
import sys, time
from glissando.corpus.lines import read_rows
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.rows import RowDecoder, RowOptions
from glissando.threads import use_cores
use_cores(1)
decoder = RowDecoder(EvaluationOptions(method="auto"), RowOptions())
times = []
for found in read_rows(sys.argv[1], decoder.decode):
    times.append(time.time())
    if len(times) == 1: print("ready", flush=True); sys.stdin.readline()
print(len(times) - 1, times[1], times[-1])
"""


def cluster_rate(swipes: Path, workers: int, rows: int) -> float:
    """Rows a second of some workers, from the first answers to the last."""
    seen: list[tuple[float, int]] = []
    with tempfile.TemporaryDirectory() as folder, connect("local", workers) as cluster:
        run = Run(cluster, [str(swipes)], rows, lambda progress: seen.append((time.time(), progress.rows)))
        decode_files(run, Parts(f"{folder}/out", "jsonl"), EvaluationOptions(method="auto"), RowOptions())
    # The workers' first blocks came together with the loading of their keyboards.
    (began, before), (ended, after) = seen[workers - 1], seen[-1]
    return (after - before) / (ended - began)


def plain_rate(swipes: Path, processes: int) -> float:
    """Rows a second of some plain processes, each with its part of the swipes, which begin together."""
    lines = swipes.read_bytes().splitlines(keepends=True)
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for number in range(processes):
            part = Path(folder) / f"{number}.jsonl"
            part.write_bytes(b"".join(lines[number::processes]))
            command = [sys.executable, "-c", PLAIN, str(part)]
            started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        for process in started:
            process.stdout.readline()  # type: ignore[union-attr]
        for process in started:
            process.stdin.write("\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        ends = [process.communicate()[0].split() for process in started]
    count = sum(int(end[0]) for end in ends)
    return count / (max(float(end[2]) for end in ends) - min(float(end[1]) for end in ends))


def rate(chosen: argparse.Namespace) -> None:
    """One worker, two workers, one and two plain processes, in turns."""
    for turn in range(chosen.turns):
        figures = {
            "one worker": cluster_rate(chosen.swipes, 1, chosen.block),
            "two workers": cluster_rate(chosen.swipes, 2, chosen.block),
            "one process": plain_rate(chosen.swipes, 1),
            "two processes": plain_rate(chosen.swipes, 2),
        }
        two = figures["two workers"]
        print(f"turn {turn + 1}: " + ", ".join(f"{name} {value:.0f}/s" for name, value in figures.items()))
        print(f"  two workers: {two / figures['one worker']:.2f} of one, {two / figures['two processes']:.2f} of plain")


OURS = ("ray::MapWorker", "ray::MapBatches(_Reader)", "ray::Ledger")  # the other processes of the session are Ray's own


def used_bytes(cluster: Cluster) -> dict[str, int]:
    """Memory of this process, the workers, the readers and the ledger, without files and Ray's object store."""
    session = cluster.ray._private.worker.global_worker.node.get_session_dir_path()
    found = {"driver": _memory(Path("/proc/self"))}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes().split(b"\0")[0].decode()
            parent = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("PPid:"))
            if name.startswith(OURS) and session in Path("/proc", parent.split()[1], "cmdline").read_text():
                found[f"{name} {folder.name}"] = _memory(folder)
        except (OSError, StopIteration):
            continue
    return found


def _memory(process: Path) -> int:
    text = (process / "smaps_rollup").read_text()
    return 1024 * int(next(line for line in text.splitlines() if line.startswith("Pss_Anon:")).split()[1])


def write_synthetic(path: Path, rows: int, words: list[str]) -> None:
    """Synthetic swipes, 20,000 different ones, as Parquet."""
    layout, rng = load_layout("qwerty"), np.random.default_rng(0)
    made = []
    for word in itertools.islice(itertools.cycle(words), min(rows, 20_000)):
        gesture = swipe(word, layout, rng=rng)
        columns = {axis: np.round(getattr(gesture, axis), 4).tolist() for axis in ("x", "y", "t")}
        made.append({"word": word, "layout": "qwerty", **columns})
    with row_writer(path) as write:
        for row in itertools.islice(itertools.cycle(made), rows):
            write(row)


def memory(chosen: argparse.Namespace) -> None:
    """Decode many synthetic swipes and watch the memory of driver and workers."""
    lexicon = load_lexicon("en")
    words = [word for word in lexicon.words[:3000] if word.isalpha() and word.isascii() and 2 <= len(word) <= 12]
    most, first = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "swipes.parquet"
        write_synthetic(path, chosen.rows, words)
        print(f"{chosen.rows:,} swipes, {path.stat().st_size / 2**20:,.0f} MiB of Parquet", flush=True)
        last = 0.0

        def show(progress) -> None:  # type: ignore[no-untyped-def]
            nonlocal most, first, last
            if time.time() - last > 5:
                last = time.time()
                total = sum(used_bytes(cluster).values())
                first, most = first or total, max(most, total)
                if int(last) % 60 < 6 or first == total:
                    print(f"{progress}; {total / 2**20:,.0f} MiB", flush=True)

        with connect("local", 2) as cluster:
            idle = sum(used_bytes(cluster).values())
            options = EvaluationOptions(method="auto", beam=chosen.beam)
            run = Run(cluster, [str(path)], chosen.block, show)
            print(decode_files(run, Parts(f"{folder}/out", "parquet"), options, RowOptions(k=1)))
            print(json.dumps({name: used // 2**20 for name, used in used_bytes(cluster).items()}))
        size = sum(file.stat().st_size for file in Path(folder, "out").iterdir())
    print(f"memory in MiB: command alone {idle / 2**20:,.0f}, first {first / 2**20:,.0f}, most {most / 2**20:,.0f}")
    print(f"results {size / 2**20:,.0f} MiB, {size / chosen.rows:.0f} bytes a row")


def node(chosen: argparse.Namespace) -> None:
    """Lose one of two nodes at half time, and count the blocks that were done twice."""
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 2**28})
    second = nodes.add_node(num_cpus=1, object_store_memory=2**28)
    nodes.wait_for_nodes()
    written: list[tuple[str, float]] = []
    stop = threading.Event()
    with tempfile.TemporaryDirectory() as folder, connect(nodes.address) as cluster:
        out = Path(folder) / "out"

        def watch() -> None:
            """Note every time that a part appears or is replaced."""
            seen: dict[str, int] = {}
            while not stop.wait(0.05):
                for part in out.glob("part-*"):
                    when = part.stat().st_mtime_ns
                    if seen.get(part.name) != when:
                        seen[part.name] = when
                        written.append((part.name, time.time()))

        def show(progress) -> None:  # type: ignore[no-untyped-def]
            nonlocal second
            if progress.share >= 0.5 and second is not None:
                lost, second = second, None
                print(f"lost a node after {progress}", flush=True)
                nodes.remove_node(lost, allow_graceful=False)

        watcher = threading.Thread(target=watch)
        watcher.start()
        run = Run(cluster, [str(chosen.swipes)], chosen.block, show)
        summary = decode_files(run, Parts(str(out), "jsonl"), EvaluationOptions(method="auto"), RowOptions())
        stop.set()
        watcher.join()
        rows = [json.loads(line)["row"] for part in sorted(out.glob("part-*")) for line in part.open()]
    nodes.shutdown()
    again = len(written) - len({name for name, _ in written})
    print(f"{summary}; {again} blocks were written twice; rows in order and once: {rows == sorted(set(rows))}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rate", "memory", "node"))
    parser.add_argument("--swipes", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--block", type=int, default=256)
    parser.add_argument("--beam", type=int, default=100)
    parser.add_argument("--turns", type=int, default=2)
    arguments = parser.parse_args()
    {"rate": rate, "memory": memory, "node": node}[arguments.what](arguments)
