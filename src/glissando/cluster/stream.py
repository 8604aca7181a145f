"""Blocks of rows stream from readers through a pool of workers; their answers come back in any order.

Ray Data does the moving: it starts the workers, holds readers back while workers are busy, restarts a worker that died,
and reads again what was lost with a node. A block can therefore be worked on twice, but is answered once.
"""

from __future__ import annotations

import logging
import os
import pickle
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from glissando.cluster.connection import Cluster, ray_errors
from glissando.cluster.ledger import Ledger, Watch
from glissando.cluster.progress import Show
from glissando.corpus.blocks import Block, read_blocks
from glissando.corpus.sources import is_address
from glissando.errors import GlissandoError
from glissando.threads import use_cores

Cut = Callable[[Iterator[Block]], Iterator[Block]]

ROWS = 1024  # of a block: some seconds of decoding
FEED = 100  # workers that one reader feeds: it reads 100,000 rows a second, a worker decodes 300


@dataclass(frozen=True)
class Task:
    """A piece of work.

    Attributes:
        file: number of the block's file in the order given.
        number: of the block in its file.
        content: the block, or whatever else the work is on.
        share: how much of the file ends with it, 0 to 1.
    """

    file: int
    number: int
    content: Any
    share: float = 1.0

    @property
    def name(self) -> str:
        """The name of the piece; names sort in the order of the rows."""
        return block_name(self.file, self.number)


class Work(Protocol):
    """What a worker does with a task."""

    def __call__(self, task: Task, watch: Watch) -> Any:
        """Work on the rows of a task; ``watch`` knows rows to leave out because they kill workers."""


class Job(Protocol):
    """Work to be done on every block. It is pickled to every worker."""

    def start(self) -> Work:
        """Prepare a worker: called once in each."""


@dataclass(frozen=True)
class Answer:
    """What came back for a task: its file, number and share as in ``Task``, and what the work returned."""

    file: int
    number: int
    share: float
    result: Any


def block_name(file: int, block: int) -> str:
    """The name of a block of a file; names sort in the order of the rows."""
    return f"{file:05d}-{block:07d}"


@dataclass(frozen=True)
class Run:
    """One pass over some files.

    Attributes:
        cluster: where.
        files: as ``find_files`` names them.
        rows: of a block.
        show: called with the progress, None where nobody looks.
    """

    cluster: Cluster
    files: Sequence[str]
    rows: int = ROWS
    show: Show | None = None


def run_blocks(
    run: Run, job: Job, done: Mapping[int, Collection[int]] | None = None, cut: Cut | None = None
) -> Iterator[Answer]:
    """Work on every block of some files; answers come as they are ready.

    An error of ours ends the job with its one line.

    Args:
        run: where and on what.
        job: what to do.
        done: by number of file, blocks to leave out.
        cut: chooses among the blocks of a file; by default all are worked on.
    """
    files = [file if is_address(file) else os.path.abspath(file) for file in run.files]
    pieces = [{"number": number, "file": file} for number, file in enumerate(files)]
    reader = _Reader(run.rows, dict(done or {}), cut)
    blocks = _items(pieces).map_batches(reader, batch_size=1, num_cpus=0, concurrency=1 + run.cluster.workers // FEED)
    return _answers(run.cluster, job, blocks)


def run_tasks(cluster: Cluster, job: Job, tasks: Sequence[Task]) -> Iterator[Answer]:
    """Work on some tasks; answers come as they are ready."""
    return _answers(cluster, job, _items([{"task": pickle.dumps(task)} for task in tasks])) if tasks else iter(())


def _items(items: list[dict[str, Any]]) -> Any:
    """A data set of some items, each of which goes its own way."""
    import ray.data as data

    context = data.DataContext.get_current()
    context.target_max_block_size = context.target_min_block_size = 1  # Ray would join small blocks into one
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="ray.data")
    return data.from_items(items, override_num_blocks=len(items))


def _answers(cluster: Cluster, job: Job, tasks: Any) -> Iterator[Answer]:
    """Send a data set of tasks through a pool of workers."""
    from ray.data import ActorPoolStrategy

    answers = tasks.map_batches(
        _Worker, fn_constructor_args=(job, cluster.here(Ledger)), batch_size=1, num_cpus=1,
        compute=ActorPoolStrategy(size=cluster.workers, max_tasks_in_flight_per_actor=2),
    )  # fmt: skip
    with ray_errors(cluster.ray):
        for row in answers.iter_rows():
            answer = pickle.loads(row["answer"])
            if isinstance(answer, GlissandoError):
                raise answer
            yield answer


class _Reader:
    """Reads the files that Ray Data gives it; a row of its output is a task."""

    def __init__(self, rows: int, done: dict[int, Collection[int]], cut: Cut | None) -> None:
        self.rows, self.done, self.cut = rows, done, cut

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the blocks of a file, or the error that it cannot be read."""
        number, file = int(batch["number"][0]), str(batch["file"][0])
        try:
            done = self.done.get(number, ())
            # A cut must see all blocks: it counts their rows.
            blocks = self.cut(read_blocks(file, self.rows)) if self.cut else read_blocks(file, self.rows, done)
            for block in blocks:
                if block.number not in done:
                    yield {"task": [pickle.dumps(Task(number, block.number, block, block.share))]}
        except GlissandoError as error:
            yield {"task": [pickle.dumps(error)]}


class _Worker:
    """A process of the pool, which Ray Data starts and gives one task at a time."""

    def __init__(self, job: Job, ledger: Any) -> None:
        use_cores(1)
        self.ledger = ledger
        self.error: GlissandoError | None = None
        try:
            self.work = job.start()
        except GlissandoError as error:  # the driver shall see it, not a process that fails to start again and again
            self.error = error

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Answer one task."""
        task = pickle.loads(batch["task"][0])
        if self.error is not None or isinstance(task, GlissandoError):
            return {"answer": [pickle.dumps(self.error or task)]}
        answer: Answer | GlissandoError
        try:
            watch = Watch.begin(self.ledger, task.name)
            answer = Answer(task.file, task.number, task.share, self.work(task, watch))
        except GlissandoError as error:
            answer = error
        self.ledger.end.remote(task.name)
        return {"answer": [pickle.dumps(answer)]}
