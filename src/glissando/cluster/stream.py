"""Blocks of rows stream from readers through a pool of workers; their answers come back in any order.

Ray Data does the moving: it starts the workers, holds readers back while workers are busy, restarts a worker that died,
and reads again what was lost with a node. A block can therefore be worked on twice, but is answered once.
"""

from __future__ import annotations

import logging
import pickle
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from glissando.cluster.connection import Cluster, ray_errors
from glissando.cluster.ledger import Ledger, Watch
from glissando.cluster.progress import Show
from glissando.corpus.blocks import Block, read_blocks
from glissando.errors import GlissandoError
from glissando.threads import use_cores

ROWS = 1024  # of a block: some seconds of decoding
FEED = 100  # workers that one reader feeds: it reads 100,000 rows a second, a worker decodes 300


@dataclass(frozen=True)
class Task:
    """A block to work on, and the number of its file in the order given."""

    file: int
    block: Block


class Work(Protocol):
    """What a worker does with a block."""

    def __call__(self, task: Task, watch: Watch) -> Any:
        """Work on the rows of a block; ``watch`` knows rows to leave out because they kill workers."""


class Job(Protocol):
    """Work to be done on every block. It is pickled to every worker."""

    def start(self) -> Work:
        """Prepare a worker: called once in each."""


@dataclass(frozen=True)
class Answer:
    """What came back for a block.

    Attributes:
        file: number of its file in the order given.
        block: its number in the file.
        result: what the work returned.
        share: how much of the file ends with this block, 0 to 1.
    """

    file: int
    block: int
    result: Any
    share: float

    @property
    def name(self) -> str:
        """The name of the block, which sorts in the order of the rows."""
        return block_name(self.file, self.block)


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


def run_blocks(run: Run, job: Job, done: Mapping[int, Collection[int]] | None = None) -> Iterator[Answer]:
    """Work on every block of some files; answers come as they are ready.

    An error of ours ends the job with its one line.

    Args:
        run: where and on what.
        job: what to do.
        done: by number of file, blocks to leave out.
    """
    data, workers = _ray_data(), run.cluster.workers
    pieces = [{"number": number, "file": file} for number, file in enumerate(run.files)]
    blocks = data.from_items(pieces, override_num_blocks=len(pieces)).map_batches(
        _Reader(run.rows, dict(done or {})), batch_size=1, num_cpus=0, concurrency=1 + workers // FEED
    )
    answers = blocks.map_batches(
        _Worker, fn_constructor_args=(job, run.cluster.here(Ledger)), batch_size=1, num_cpus=1,
        compute=data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
    )  # fmt: skip
    with ray_errors(run.cluster.ray):
        for row in answers.iter_rows():
            answer = pickle.loads(row["answer"])
            if isinstance(answer, GlissandoError):
                raise answer
            yield answer


class _Reader:
    """Reads the files that Ray Data gives it; a row of its output is a block."""

    def __init__(self, rows: int, done: dict[int, Collection[int]]) -> None:
        self.rows, self.done = rows, done

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the blocks of a file, or the error that it cannot be read."""
        number, file = int(batch["number"][0]), str(batch["file"][0])
        try:
            for block in read_blocks(file, self.rows, self.done.get(number, ())):
                yield {"number": [number], "block": [pickle.dumps(block)]}
        except GlissandoError as error:
            yield {"number": [number], "block": [pickle.dumps(error)]}


class _Worker:
    """A process of the pool, which Ray Data starts and gives one block at a time."""

    def __init__(self, job: Job, ledger: Any) -> None:
        use_cores(1)
        self.ledger = ledger
        self.error: GlissandoError | None = None
        try:
            self.work = job.start()
        except GlissandoError as error:  # the driver shall see it, not a process that fails to start again and again
            self.error = error

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Answer one block."""
        number, block = int(batch["number"][0]), pickle.loads(batch["block"][0])
        if self.error is not None or isinstance(block, GlissandoError):
            return {"answer": [pickle.dumps(self.error or block)]}
        watch = Watch.begin(self.ledger, block_name(number, block.number))
        answer: Answer | GlissandoError
        try:
            answer = Answer(number, block.number, self.work(Task(number, block), watch), block.share)
        except GlissandoError as error:
            answer = error
        self.ledger.end.remote(watch.block)
        return {"answer": [pickle.dumps(answer)]}


def _ray_data() -> Any:
    """Ray Data, set to keep our blocks apart: it would join small ones, and one worker would get them all."""
    import ray.data as data

    context = data.DataContext.get_current()
    context.target_max_block_size = context.target_min_block_size = 1
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="ray.data")
    return data
