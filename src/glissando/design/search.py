"""The search: climbers step from layout to better layout, each step chosen from all swaps of two letters.

A round judges every layout one swap away from every climber, on all words. Only words that contain a swapped letter
can change their cost, and of those the encoder reads only the ones it has not met at these keys.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from glissando.design.archive import Archive, Arrangement
from glissando.design.climb import Climber, Team
from glissando.design.config import SearchConfig
from glissando.design.cost import Costs, LayoutCosts
from glissando.design.judge import Judge
from glissando.design.task import DesignTask
from glissando.design.words import SearchWords
from glissando.errors import DesignError
from glissando.files import write_whole
from glissando.train.world import World

CPU_MEMO_BITS, GPU_MEMO_BITS = 22, 28
CPU_SWAPS = 64  # swaps to look at before a step on a CPU, where reading a word is slow


@dataclass
class Tally:
    """What a search has done.

    Attributes:
        rounds: steps of all climbers.
        layouts: layouts whose cost was found on all words, those met before included.
        summits: layouts that no swap improved.
        swipes: words read by the encoder.
        lookups: costs of words asked for; those that are no swipes were remembered.
        seconds: time taken.
        began: cost, by the search's dial, of the layout that the first climber started from.
    """

    rounds: int = 0
    layouts: int = 0
    summits: int = 0
    swipes: int = 0
    lookups: int = 0
    seconds: float = 0.0
    began: float | None = None


@dataclass(frozen=True)
class Found:
    """What processes found: the layouts they keep, and what they did."""

    archive: Archive
    tally: Tally


@dataclass(frozen=True)
class Progress:
    """The state of a search after a round: tally, best layout, whether it is new, and the share of the budget spent."""

    tally: Tally
    best: Arrangement
    improved: bool
    share: float


@dataclass
class Search:
    """A search that can be stopped after any round and resumed.

    Attributes:
        task: what is searched for.
        words: what layouts are judged on.
        config: how to search.
        judge: reads words, quickly.
        world: the processes; each has its own climbers.
    """

    task: DesignTask
    words: SearchWords
    config: SearchConfig
    judge: Judge
    world: World
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        if self.words.alphabet != self.task.letters:
            raise DesignError("the words are spelled with another alphabet than the layout's letters")
        on_gpu = self.world.device.type == "cuda"
        bits = self.config.memo_bits or (GPU_MEMO_BITS if on_gpu else CPU_MEMO_BITS)
        self.costs = LayoutCosts(self.task, self.words, self.judge, bits)
        self.team = Team(self.task, self.config, self.world.rank)
        self.archive = Archive(self.config.dial, self.config.keep)
        # Climbers look at the swaps in turn, in one random order, so that none is missed between two steps.
        self.order = np.random.default_rng([self.config.seed, 2]).permutation(len(self.task.swaps))
        self.look = min(self.config.swaps or (len(self.order) if on_gpu else CPU_SWAPS), len(self.order))

    def run(
        self,
        state: Path | None = None,
        report: Callable[[Progress], None] | None = None,
        since: float | None = None,
    ) -> None:
        """Search until the minutes or rounds are spent.

        Args:
            state: where to keep checkpoints.
            report: called after every round.
            since: the tally's seconds from which the minutes are counted; by default from now on.
        """
        began, earlier = time.monotonic(), self.tally.seconds
        saved, since = began, earlier if since is None else since
        while self._share_spent(self.tally.seconds - since) < 1:
            improved = self.round()
            self.tally.seconds = earlier + time.monotonic() - began
            if state is not None and time.monotonic() - saved >= self.config.checkpoint_seconds:
                self.save(state)
                saved = time.monotonic()
            if report is not None:
                share = self._share_spent(self.tally.seconds - since)
                report(Progress(self.tally, self.archive.best[0], improved, share))
        if state is not None:
            self.save(state)

    def _share_spent(self, seconds: float) -> float:
        by_rounds = self.tally.rounds / self.config.rounds if self.config.rounds else 0.0
        return min(1.0, max(by_rounds, seconds / (60 * self.config.minutes)))

    @torch.no_grad()
    def round(self) -> bool:
        """Take one step with every climber; True where the best layout is a new one."""
        here = self._tensor(self.team.slots())  # [R, K]
        if self.tally.began is None:
            self.tally.began = float(self.costs.of(here[:1]).total(self.config.dial))
        turn = self.tally.rounds * self.look + np.arange(self.look)
        numbers = self.order[turn % len(self.order)]  # [p] the swaps of this round
        chosen, dials = self._tensor(numbers), self._tensor(self.team.dials())
        now = _numpy(self.costs.of(here).total(dials))  # [R]
        beside = self.costs.neighbours(here, chosen)  # [R, p]
        around = torch.stack([self.costs.swapped(slots, chosen) for slots in here])  # [R, p, K]
        allowed = self.team.allowed()[:, numbers]
        improved = self._note(around.flatten(0, 1), Costs(*(part.flatten() for part in beside)), allowed.flatten())
        gains = np.full((len(here), len(self.order)), -np.inf)
        gains[:, numbers] = np.where(allowed, now[:, None] - _numpy(beside.total(dials[:, None])), -np.inf)
        candidates = [self.team.candidates(*one) for one in zip(self.team.slots().tolist(), gains, strict=True)]
        flat = self._tensor([slots for some in candidates for slots in some])
        tried = self.costs.of(flat)
        improved |= self._note(flat, tried)
        self._move(now, candidates, tried)
        self.tally.rounds += 1
        self.tally.layouts += int(allowed.sum()) + len(flat) - len(candidates)  # each climber's first was beside it
        self.tally.swipes, self.tally.lookups = self.judge.swipes, self.costs.looked_up
        return improved

    def _move(self, now: np.ndarray, candidates: list[list[list[int]]], tried: Costs) -> None:
        """Send every climber to the best of its candidates, or to a new start."""
        clarity, travel = _numpy(tried.clarity), _numpy(tried.travel)
        begin = 0
        for climber, cost, some in zip(self.team.climbers, now.tolist(), candidates, strict=True):
            part = slice(begin, begin + len(some))
            totals = clarity[part] + climber.dial * travel[part]
            best = int(totals.argmin())
            climber.looked += self.look
            self.tally.summits += self.team.move(climber, cost, some[best], float(totals[best]))
            begin += len(some)

    def _note(self, slots: Tensor, costs: Costs, allowed: np.ndarray | None = None) -> bool:
        """Show layouts to the archive. Shapes: [n, K], [n] each, [n]."""
        rows = np.ones(len(slots), dtype=bool) if allowed is None else allowed
        return bool(rows.any()) and self.archive.add(*(_numpy(part)[rows] for part in (slots, *costs)))

    def _tensor(self, values: Any) -> Tensor:
        return torch.tensor(values, device=self.world.device)

    def save(self, path: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        data = {
            "format": "glissando-search",
            "identity": self.identity(),
            "tally": asdict(self.tally),
            "climbers": [climber.to_dict() for climber in self.team.climbers],
            "archive": self.archive.to_dict(),
        }
        write_whole(path, json.dumps(data).encode())

    def resume(self, path: Path) -> None:
        """Continue from a checkpoint of the same search."""
        try:
            data = json.loads(path.read_bytes())
            climbers = [Climber.from_dict(entry) for entry in data["climbers"]]
            tally, identity, archive = Tally(**data["tally"]), data["identity"], data["archive"]
        except FileNotFoundError:
            raise DesignError(f"nothing to resume: there is no {path}") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DesignError(f"the checkpoint {path} is damaged: {error}") from None
        mine = json.loads(json.dumps(self.identity()))
        if identity != mine:
            differ = sorted(name for name in mine if identity.get(name) != mine[name])
            raise DesignError(f"the checkpoint {path} is of another search: its {', '.join(differ)} differ")
        self.team.climbers, self.tally = climbers, tally
        self.archive.restore(archive)
        self.judge.swipes, self.costs.looked_up = tally.swipes, tally.lookups

    def identity(self) -> dict[str, Any]:
        """What a search must share with the one it continues."""
        return {
            **{name: getattr(self.config, name) for name in ("dial", "climbers", "seed", "view")},
            "keys": self.task.grid.centres.tolist(),
            "letters": "".join(self.task.letters),
            "pinned": sorted(self.task.pinned),
            "start": self.task.start,
            "max_swaps": self.task.max_swaps,
            "words": [len(self.words), float(self.words.weights[0])],
        }

    @property
    def found(self) -> Found:
        """What this process found."""
        return Found(self.archive, self.tally)

    def gather(self) -> Found:
        """What all processes that torchrun started found, on each of them."""
        if self.world.size == 1:
            return self.found
        everyone: list[Any] = [None] * self.world.size
        dist.all_gather_object(everyone, self.found)
        return combine(everyone, self.world.size)


def combine(parts: Sequence[Found], at_once: int) -> Found:
    """What several processes found together; ``at_once`` of them ran at the same time. The order decides ties."""
    archive = Archive(parts[0].archive.dial, parts[0].archive.keep)
    for part in parts:
        archive.merge(part.archive)
    return Found(archive, add_tallies([part.tally for part in parts], at_once))


def add_tallies(tallies: Sequence[Tally], at_once: int) -> Tally:
    """What several processes did together; the rounds and the cost it began with are those of the first that ran."""
    first = next((tally for tally in tallies if tally.rounds), tallies[0])
    names = ("layouts", "summits", "swipes", "lookups")
    sums = {name: sum(getattr(tally, name) for tally in tallies) for name in names}
    return replace(first, **sums, seconds=sum(tally.seconds for tally in tallies) / at_once)


def _numpy(tensor: Tensor) -> np.ndarray:
    return tensor.cpu().numpy()
