"""A search for keyboards on a cluster: every process of the search is a task on one processor.

The processes are those that torchrun would start. Each has climbers and random numbers of its own, by its rank, and
keeps a checkpoint; a task that Ray starts again, on this node or another, continues from it. So what is found depends
on the number of processes, not on where they run, nor on how many of them run at once.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from glissando.cluster.connection import Cluster, ray_errors, with_full_paths
from glissando.design.config import DesignRequest, SearchConfig
from glissando.design.run import DesignResult, Problem, Report, checked, finish, run_search
from glissando.design.search import Found, Progress, add_tallies, combine
from glissando.errors import DesignError, GlissandoError
from glissando.threads import use_cores
from glissando.train.world import World

ATTEMPTS = 3  # to start a process again that has died
LOOK_SECONDS = 1.0  # between two looks at the progress


def design_on_cluster(
    cluster: Cluster, request: DesignRequest, config: SearchConfig, report: Report, processes: int | None = None
) -> DesignResult:
    """Search on a cluster, and write the results to ``request.out``, which all nodes must share.

    An interrupt (Ctrl-C) ends the search early: every process ends its round, and the best so far is written.

    Args:
        cluster: where.
        request: which keyboard to search for.
        config: how to search; the minutes are those of every process.
        report: called now and then with the progress of all processes and the best layout so far.
        processes: how many; the result depends on it. By default one for each processor of the cluster.
    """
    if request.device not in (None, "cpu"):
        raise DesignError(f"a cluster searches on processors, not on {request.device}; for GPUs there is torchrun")
    problem, size = Problem.read(request, config), processes or cluster.workers
    request.out.mkdir(parents=True, exist_ok=True)
    _claim(problem, size)
    job = _Job(cluster, problem, size, report)
    found = checked(combine(job.results(), job.at_once))
    return finish(problem, found, World(torch.device("cpu"), 0, size), job.interrupted)


def _claim(problem: Problem, size: int) -> None:
    """Make sure that the directory holds no checkpoints, or those of the search that is resumed."""
    out = problem.request.out
    states = sorted(out.glob("state*.json"))
    if states and not problem.request.resume:
        raise DesignError(f"{out} holds a search; continue it by --resume, or choose another --out")
    if problem.request.resume and not states:
        raise DesignError(f"nothing to resume: there is no checkpoint in {out}")
    known = {problem.state(rank, size) for rank in range(size)}
    if others := [state.name for state in states if state not in known]:
        raise DesignError(f"{out} holds {others[0]}, of a search with another number of processes than {size}")


class _Job:
    """The processes of one search, as the command follows them."""

    def __init__(self, cluster: Cluster, problem: Problem, size: int, report: Report) -> None:
        self.ray, self.problem, self.size, self.report = cluster.ray, problem, size, report
        self.at_once = min(size, cluster.workers)
        self.interrupted = False
        self.best: tuple[int, ...] = ()  # the slots of the best layout that was reported
        self.board = cluster.here(_Board)
        order = self.ray.put(pickle.dumps(replace(problem, request=with_full_paths(problem.request))))
        kind = self.ray.remote(_search).options(num_cpus=1, max_retries=ATTEMPTS)
        self.tasks = [kind.remote(order, rank, size, self.board) for rank in range(size)]

    def results(self) -> list[Found]:
        """Wait for all processes and give what they found, in the order of their ranks."""
        found: dict[Any, Found] = {}
        with ray_errors(self.ray):
            while len(found) < self.size:
                try:
                    self._look(found)
                except KeyboardInterrupt:
                    if self.interrupted:  # a second time: leave the processes to their checkpoints
                        raise
                    self.interrupted = True
                    self.ray.get(self.board.stop.remote())
        return [found[task] for task in self.tasks]

    def _look(self, found: dict[Any, Found]) -> None:
        """Take what has ended since the last look, and report how far the others are."""
        pending = [task for task in self.tasks if task not in found]
        ended, _ = self.ray.wait(pending, num_returns=len(pending), timeout=LOOK_SECONDS)
        for task, data in zip(ended, self.ray.get(ended), strict=True):
            result = pickle.loads(data)
            if isinstance(result, GlissandoError):
                raise result
            found[task] = result
        notes = [pickle.loads(note) for note in self.ray.get(self.board.read.remote())]
        if notes and not self.interrupted:
            progress = _together(notes, self.size, self.at_once, self.problem.config.dial)
            progress = replace(progress, improved=progress.best.slots != self.best)
            self.best = progress.best.slots
            self.report(progress, self.problem.layout(progress.best))


def _together(notes: Sequence[Progress], size: int, at_once: int, dial: float) -> Progress:
    """The progress of all processes, of which only those in ``notes`` have begun."""
    best = min((note.best for note in notes), key=lambda one: (one.total(dial), one.slots))
    tally = add_tallies([note.tally for note in notes], min(at_once, len(notes)))
    return Progress(tally, best, False, sum(note.share for note in notes) / size)


class _Board:
    """What the processes tell the command and it tells them; one process of the cluster keeps it."""

    def __init__(self) -> None:
        self.stopped = False
        self.began: dict[int, float] = {}
        self.notes: dict[int, bytes] = {}

    def begin(self, rank: int, seconds: float) -> tuple[bool, float]:
        """Note that a process begins.

        Args:
            rank: which.
            seconds: of its tally.

        Returns:
            Whether the search is stopped, and the seconds of the tally when the process first began: one that was
            started again has only the rest of its minutes.
        """
        return self.stopped, self.began.setdefault(rank, seconds)

    def note(self, rank: int, progress: bytes) -> bool:
        """Note the progress of a process; returns whether it shall stop."""
        self.notes[rank] = progress
        return self.stopped

    def read(self) -> list[bytes]:
        """The last progress of every process that has noted one, in the order of their ranks."""
        return [self.notes[rank] for rank in sorted(self.notes)]

    def stop(self) -> None:
        """End the search: every process stops after its round, and no other begins."""
        self.stopped = True


def _search(order: bytes, rank: int, size: int, board: Any) -> bytes:
    """One process of the search, on one core; returns what it found, or an error."""
    use_cores(1)
    torch.set_num_threads(1)
    try:
        return pickle.dumps(_find(pickle.loads(order), rank, size, board))
    except GlissandoError as error:
        return pickle.dumps(error)


def _find(problem: Problem, rank: int, size: int, board: Any) -> Found:
    """Search with the climbers of one rank, from its checkpoint if there is one."""
    import ray

    _check_shared(problem.request.out)
    state = problem.state(rank, size)
    search = problem.search(World(torch.device("cpu"), rank, size))
    if state.exists():
        search.resume(state)
    stopped, since = ray.get(board.begin.remote(rank, search.tally.seconds))

    def note(progress: Progress) -> None:
        if ray.get(board.note.remote(rank, pickle.dumps(progress))):
            raise KeyboardInterrupt

    if not stopped:
        run_search(search, state, note, since)
    return search.found


def _check_shared(out: Path) -> None:
    """Refuse a node that does not see the directory of the search."""
    if not out.is_dir():
        raise DesignError(
            f"a node of the cluster has no directory {out}: --out must be on storage that all nodes share"
        )
