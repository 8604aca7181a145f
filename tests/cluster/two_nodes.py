"""Decode on a cluster of two nodes, one of which is lost on the way; run by test_nodes.py in a process of its own.

Prints the summary as JSON, and how many blocks were begun twice.
"""

import json
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from ray.cluster_utils import Cluster as Nodes

from glissando.cluster.connection import connect
from glissando.cluster.decode import decode_files
from glissando.cluster.parts import Parts
from glissando.cluster.stream import Run
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.rows import RowOptions


def main(swipes: str, words: str, folder: str) -> None:
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 * 2**20})
    second = nodes.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    nodes.wait_for_nodes()
    answers = 0
    lost = threading.Event()

    def show(progress):
        nonlocal answers
        answers += 1
        if answers == 4 and not lost.is_set():  # both nodes are at work
            lost.set()
            nodes.remove_node(second, allow_graceful=False)

    with connect(nodes.address) as cluster:
        assert cluster.workers == 2
        run = Run(cluster, [swipes], 6, show)
        summary = decode_files(run, Parts(folder, "jsonl"), EvaluationOptions(lexicon=Path(words)), RowOptions(k=1))
    nodes.shutdown()
    assert lost.is_set()
    print(json.dumps(asdict(summary)))


if __name__ == "__main__":
    main(*sys.argv[1:])
