"""Swipes to tune on, divided among the workers of a cluster.

Every worker holds a share of the swipes, in their order. Optuna's trials are made one after the other by the command
itself; the workers search their swipes for each trial. So the constants are those that one machine finds.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glissando.cluster.connection import Cluster, ray_errors, with_full_paths
from glissando.errors import ClusterError, GlissandoError
from glissando.evaluation.beams import StoredBeams, SwipeSet, TuningSet, join_beams, store_matches, typed_targets
from glissando.evaluation.evaluate import EvaluationOptions, keyboard_for
from glissando.evaluation.tune import LabelledSwipes
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.scoring import Scoring
from glissando.threads import use_cores

ATTEMPTS = 3  # to start a worker again that has died; what it was asked is repeated as long as there is a worker
LOOK_SECONDS = 5.0  # between two looks at the cluster's processors while workers are awaited


class ClusterWorkplace:
    """Searches on the workers of a cluster; see ``tune.Workplace``.

    Args:
        cluster: the cluster; each worker takes one of its processors.
        evaluation: how swipes are decoded.
    """

    def __init__(self, cluster: Cluster, evaluation: EvaluationOptions) -> None:
        self.cluster, self.evaluation = cluster, evaluation
        _check_processors(cluster)
        kind = cluster.ray.remote(_Worker).options(num_cpus=1, max_restarts=ATTEMPTS, max_task_retries=-1)
        self.workers = [kind.remote() for _ in range(cluster.workers)]
        self.parts = 0

    def encode(self, part: LabelledSwipes) -> SwipeSet:
        """Divide the swipes of one layout among the workers, and let each run the networks over its own."""
        swipes = SpreadSwipes(self, self._divide(part))
        swipes.ask("encode")
        return swipes

    def match(self, part: LabelledSwipes) -> StoredBeams:
        """Divide the swipes of one layout among the workers, and match them with SHARK2."""
        return join_beams(self.ask(self._divide(part), "match"))

    def ask(self, shares: Sequence[_Share], what: str, *arguments: Any) -> list[Any]:
        """What the workers answer about their shares, in the order of the shares; an error of ours is raised."""
        asked = [
            worker.answer.remote(share, what, arguments)
            for worker, share in zip(self.workers, shares, strict=False)  # fewer swipes than workers have fewer shares
        ]
        pending = asked
        with ray_errors(self.cluster.ray):
            while pending:
                _, pending = self.cluster.ray.wait(pending, num_returns=len(pending), timeout=LOOK_SECONDS)
                if pending:
                    _check_processors(self.cluster)
            answers = [pickle.loads(answer) for answer in self.cluster.ray.get(asked)]
        for answer in answers:
            if isinstance(answer, GlissandoError):
                raise answer
        return answers

    def _divide(self, part: LabelledSwipes) -> list[_Share]:
        """Shares of equal size, in the order of the swipes."""
        board, put = part.board, self.cluster.ray.put
        targets = typed_targets(part.words, board.layout, board.lexicon)
        recipe = put(pickle.dumps(_Recipe.of(board, self.evaluation, tuple(dict.fromkeys(targets)))))
        shares = []
        for rows in np.array_split(np.arange(len(targets)), min(len(targets), len(self.workers))):
            swipes = [[column[row] for row in rows.tolist()] for column in (part.gestures, part.words, part.texts)]
            shares.append(_Share(self.parts, recipe, put(pickle.dumps(swipes))))
        self.parts += 1
        return shares


@dataclass(frozen=True)
class SpreadSwipes:
    """Swipes on one layout that workers hold; the beams are those that one ``TuningSet`` of all of them gives."""

    workplace: ClusterWorkplace
    shares: list[_Share]

    def held(self, scoring: Scoring) -> np.ndarray:
        """Whether each swipe's target is in its beam, with these pruning constants. Shape: [n] bool."""
        return np.concatenate(self.ask("held", scoring))

    def beams(self, scoring: Scoring, measured: bool = False) -> StoredBeams:
        """Search every swipe's words with these pruning constants; ``measured`` adds the distances of geometry.py."""
        return join_beams(self.ask("beams", scoring, measured))

    def matched_beams(self, scoring: Scoring) -> StoredBeams:
        """Search every swipe's words and ask the matcher about those in doubt; ``scoring`` decides which."""
        return join_beams(self.ask("matched_beams", scoring))

    def ask(self, what: str, *arguments: Any) -> list[Any]:
        """What the workers answer, in the order of the swipes."""
        return self.workplace.ask(self.shares, what, *arguments)


@dataclass(frozen=True)
class _Recipe:
    """How a worker makes the keyboard, which does not pickle, and the spellings that its swipes are told apart by."""

    layout: Layout
    options: EvaluationOptions
    meant: tuple[str, ...]

    @classmethod
    def of(cls, board: Any, evaluation: EvaluationOptions, meant: tuple[str, ...]) -> _Recipe:
        """The recipe of a keyboard or a Shark2: words and constants are sent, networks are read by every worker."""
        options = replace(
            with_full_paths(evaluation), language=None, lexicon=board.lexicon, add_targets=False, layouts=None,
            scoring=board.scoring if isinstance(board, Keyboard) else board.constants.to_dict(),
        )  # fmt: skip
        return cls(board.layout, options, meant)


@dataclass(frozen=True)
class _Share:
    """A share of the swipes of one layout. A worker fetches it once; one that was started again fetches it again.

    Attributes:
        part: the number of the layout's set.
        recipe: Ray's reference to the pickled ``_Recipe``.
        swipes: Ray's reference to pickled lists of gestures, words and texts.
    """

    part: int
    recipe: Any
    swipes: Any


class _Worker:
    """A process that holds one share of every part.

    Everything travels as bytes: arrays that Ray moves are read-only, for which numba would compile its functions again.
    """

    def __init__(self) -> None:
        use_cores(1)
        self.sets: dict[int, TuningSet] = {}

    def answer(self, share: _Share, what: str, arguments: tuple[Any, ...]) -> bytes:
        """Answer a question about a share: "encode", "match", or a method of ``TuningSet``."""
        try:
            if what == "match":
                return pickle.dumps(self._match(share))
            swipes = self._set(share)
            return pickle.dumps(None if what == "encode" else getattr(swipes, what)(*arguments))
        except GlissandoError as error:
            return pickle.dumps(error)

    def _set(self, share: _Share) -> TuningSet:
        """The swipes after the networks have run, which happens once."""
        if share.part not in self.sets:
            part, meant = _fetch(share)
            self.sets[share.part] = replace(TuningSet.encode(*part), meant=meant)
        return self.sets[share.part]

    def _match(self, share: _Share) -> StoredBeams:
        part, meant = _fetch(share)
        return store_matches(part.board, part.gestures, part.words, meant)


def _fetch(share: _Share) -> tuple[LabelledSwipes, tuple[str, ...]]:
    """The swipes of a share with their keyboard, and the spellings meant in the whole part."""
    import ray

    recipe, swipes = (pickle.loads(data) for data in ray.get([share.recipe, share.swipes]))
    board, _ = keyboard_for(recipe.layout, (), recipe.options)
    return LabelledSwipes(board, *swipes), recipe.meant


def _check_processors(cluster: Cluster) -> None:
    """Refuse a cluster with fewer processors than workers, as after the loss of a node: they would wait forever."""
    processors = int(cluster.ray.cluster_resources().get("CPU", 0))
    if processors < cluster.workers:
        raise ClusterError(
            f"{cluster.workers} workers need as many processors, the cluster has {processors}; "
            f"start again with --workers {max(processors, 1)}: finished trials are kept"
        )
