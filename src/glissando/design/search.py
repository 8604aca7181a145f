"""The search: climbers step from layout to better layout, each step chosen from all swaps of two letters.

A round judges every layout one swap away from every climber, on all words. Only words that contain a swapped letter
can cost something else, and of those the encoder reads only the ones never met at these keys.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from glissando.design.archive import Archive, Found
from glissando.design.climb import Climber, Party
from glissando.design.config import SearchConfig
from glissando.design.cost import Costs, LayoutCosts
from glissando.design.judge import Judge
from glissando.design.spelling import Spelling
from glissando.design.task import DesignTask
from glissando.errors import DesignError
from glissando.files import write_whole
from glissando.train.world import World

CPU_MEMO_BITS, GPU_MEMO_BITS = 22, 28
CPU_SWAPS = 64  # where reading a word is dear, step early

Report = Callable[["Progress"], None]


@dataclass
class Tally:
    """What a search has done.

    Attributes:
        rounds: steps of all climbers.
        layouts: layouts whose cost was found on all words, those met before included.
        summits: layouts that no swap improved.
        swipes: words read by the encoder.
        lookups: costs of words asked for; what is not a swipe was remembered.
        seconds: time taken.
        began: cost, by the dial asked for, of the layout that the first climber set off from.
    """

    rounds: int = 0
    layouts: int = 0
    summits: int = 0
    swipes: int = 0
    lookups: int = 0
    seconds: float = 0.0
    began: float | None = None


@dataclass(frozen=True)
class Progress:
    """How a search stands: the tally, the best layout, whether it is new, and the share of the budget that is spent."""

    tally: Tally
    best: Found
    improved: bool
    share: float


@dataclass
class Search:
    """A search that can be stopped after any round and gone on with.

    Attributes:
        task: what is searched for.
        words: what layouts are judged on.
        config: how.
        judge: reads words, quickly.
        world: the processes; each has its own climbers.
    """

    task: DesignTask
    words: Spelling
    config: SearchConfig
    judge: Judge
    world: World
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        if self.words.alphabet != self.task.letters:
            raise DesignError("the words are spelled with another alphabet than the layout's letters")
        bits = GPU_MEMO_BITS if self.world.device.type == "cuda" else CPU_MEMO_BITS
        self.costs = LayoutCosts(self.task, self.words, self.judge, self.config.memo_bits or bits)
        self.party = Party(self.task, self.config, self.world.rank)
        self.archive = Archive(self.config.dial, self.config.keep)
        # Climbers look at the swaps in turn, in one random order, so that nothing is missed between two steps.
        self.order = np.random.default_rng([self.config.seed, 2]).permutation(len(self.task.swaps))
        auto = len(self.order) if self.world.device.type == "cuda" else CPU_SWAPS
        self.look = min(self.config.swaps or auto, len(self.order))

    def run(self, state: Path | None = None, report: Report | None = None) -> None:
        """Search until time or rounds are over.

        Args:
            state: where to keep checkpoints.
            report: called after every round.
        """
        began, spent = time.monotonic(), self.tally.seconds
        saved = began
        while not self._over(self.tally.seconds - spent):
            improved = self.round()
            self.tally.seconds = spent + time.monotonic() - began
            if state is not None and time.monotonic() - saved >= self.config.checkpoint_seconds:
                self.save(state)
                saved = time.monotonic()
            if report is not None:
                report(Progress(self.tally, self.archive.best[0], improved, self._share(self.tally.seconds - spent)))
        if state is not None:
            self.save(state)

    def _over(self, seconds: float) -> bool:
        return seconds >= 60 * self.config.minutes or 0 < self.config.rounds <= self.tally.rounds

    def _share(self, seconds: float) -> float:
        by_rounds = self.tally.rounds / self.config.rounds if self.config.rounds else 0.0
        return min(1.0, max(by_rounds, seconds / (60 * self.config.minutes)))

    @torch.no_grad()
    def round(self) -> bool:
        """Take one step with every climber, and say whether the best layout is a new one."""
        where = torch.tensor(self.party.slots(), device=self.world.device)
        if self.tally.began is None:
            self.tally.began = float(self.costs.of(where[:1]).total(self.config.dial))
        turn = self.tally.rounds * self.look + np.arange(self.look)
        numbers = self.order[turn % len(self.order)]  # [p] the swaps of this round
        chosen = torch.tensor(numbers, device=self.world.device)
        here, beside = self.costs.of(where), self.costs.neighbours(where, chosen)
        around = torch.stack([self.costs.swapped(slots, chosen) for slots in where])  # [R, p, K]
        allowed = self.party.allowed()[:, numbers]
        improved = self._note(around.flatten(0, 1), Costs(*(part.flatten() for part in beside)), allowed.flatten())
        dials = self.party.dials()
        now, after = _numpy(here.total(self._tensor(dials[:, 0]))), _numpy(beside.total(self._tensor(dials)))
        gains = np.full((len(where), len(self.order)), -np.inf)
        gains[:, numbers] = np.where(allowed, now[:, None] - after, -np.inf)
        options = self.party.candidates(gains)
        flat = torch.tensor([slots for some in options for slots in some], device=self.world.device)
        tried = self.costs.of(flat)
        improved |= self._note(flat, tried)
        self._move(now, options, tried)
        self.tally.rounds += 1
        self.tally.layouts += int(allowed.sum()) + len(flat) - len(options)  # each climber's first was beside it
        self.tally.swipes, self.tally.lookups = self.judge.swipes, self.costs.looked_up
        return improved

    def _move(self, now: np.ndarray, options: list[list[list[int]]], tried: Costs) -> None:
        """Send every climber to the best of its options, or off again."""
        clarity, travel = _numpy(tried.clarity), _numpy(tried.travel)
        begin = 0
        for climber, cost, some in zip(self.party.climbers, now.tolist(), options, strict=True):
            part = slice(begin, begin + len(some))
            totals = clarity[part] + climber.dial * travel[part]
            best = int(totals.argmin())
            self.tally.summits += self.party.move(climber, cost, some[best], float(totals[best]), self.look)
            begin += len(some)

    def _note(self, slots: torch.Tensor, costs: Costs, allowed: np.ndarray | None = None) -> bool:
        """Show layouts to the archive. Shapes: [n, K], [n] each, [n]."""
        layouts, clarity, travel = _numpy(slots), _numpy(costs.clarity), _numpy(costs.travel)
        if allowed is not None:
            layouts, clarity, travel = layouts[allowed], clarity[allowed], travel[allowed]
        return bool(len(layouts)) and self.archive.add(layouts, clarity, travel)

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.tensor(values, device=self.world.device)

    def save(self, path: Path) -> None:
        """Write a checkpoint; it appears whole or not at all."""
        data = {
            "format": "glissando-search",
            "identity": self.identity(),
            "tally": asdict(self.tally),
            "climbers": [climber.to_dict() for climber in self.party.climbers],
            "archive": self.archive.to_dict(),
        }
        write_whole(path, json.dumps(data).encode())

    def resume(self, path: Path) -> None:
        """Go on from a checkpoint of the same search."""
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
        self.party.climbers, self.tally = climbers, tally
        self.archive.restore(archive)
        self.judge.swipes, self.costs.looked_up = tally.swipes, tally.lookups

    def identity(self) -> dict[str, Any]:
        """What a search must share with the one it goes on with."""
        shared = {name: value for name, value in asdict(self.config).items() if name in ("dial", "climbers", "seed")}
        return {
            **shared,
            "view": self.config.view,
            "keys": self.task.centres.tolist(),
            "letters": "".join(self.task.letters),
            "pinned": sorted(self.task.pinned),
            "start": self.task.start,
            "max_swaps": self.task.max_swaps,
            "words": [len(self.words), float(self.words.weights[0])],
        }

    def gather(self) -> None:
        """Bring every process's best layouts and tally together, on all of them."""
        if self.world.size == 1:
            return
        mine = [[*found.slots, found.clarity, found.travel] for found in self.archive.best]
        mine += [mine[-1]] * (self.config.keep - len(mine))
        table = torch.tensor(mine, dtype=torch.float64, device=self.world.device)
        counts = torch.tensor(
            [self.tally.layouts, self.tally.summits, self.tally.swipes, self.tally.lookups],
            dtype=torch.float64,
            device=self.world.device,
        )
        tables = [torch.empty_like(table) for _ in range(self.world.size)]
        dist.all_gather(tables, table)
        dist.all_reduce(counts)
        for row in torch.cat(tables).tolist():
            self.archive.keep_best(Found(row[-2], row[-1], tuple(int(slot) for slot in row[:-2])))
        layouts, summits, swipes, lookups = (int(count) for count in counts.tolist())
        self.tally.layouts, self.tally.summits, self.tally.swipes, self.tally.lookups = (
            layouts,
            summits,
            swipes,
            lookups,
        )


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.cpu().numpy()
