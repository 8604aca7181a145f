"""A search from request to files: the layout, its picture, the front, and search.json, the account of the search."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from glissando.design.archive import Arrangement, letter_rows, undominated, write_front, write_json
from glissando.design.config import DesignRequest, SearchConfig
from glissando.design.cost import LayoutCosts
from glissando.design.judge import check_judges, make_judge
from glissando.design.search import Found, Progress, Search, Tally
from glissando.design.task import DesignTask, make_task
from glissando.design.words import SearchWords
from glissando.drawing import save_svg
from glissando.errors import DesignError, LayoutError
from glissando.layout import Layout, load_layout
from glissando.train.world import World, join_world

EXACT_MEMO_BITS = 20
PEERS = ("kasroz", "clearflow")  # layouts to compare with where they fit the grid


@dataclass(frozen=True)
class DesignResult:
    """What a search found.

    Attributes:
        layout: the best layout.
        best: its costs, in full precision.
        peers: by name, known layouts on the same grid, and the layout it started from.
        upright: by name, nats per word of the best and of the peers, seen upright.
        front: layouts that no other beats in both clarity and travel.
        tally: what the search did.
        interrupted: whether a person stopped it.
    """

    layout: Layout
    best: Arrangement
    peers: dict[str, Arrangement]
    upright: dict[str, float]
    front: list[Arrangement]
    tally: Tally
    interrupted: bool

    def summary(self, config: SearchConfig) -> list[str]:
        """Lines that tell a person what was found."""
        tally, seconds = self.tally, max(self.tally.seconds, 1e-9)
        known = 1 - tally.swipes / max(1, tally.lookups)
        lines = ["stopped early; this is the best so far"] if self.interrupted else []
        lines.append(
            f"{tally.layouts:,} layouts judged on every word in {seconds:,.0f} s, {tally.layouts / seconds:,.0f} a "
            f"second; {tally.swipes:,} swipes read, {known:.1%} of the costs were known"
        )
        rows = " / ".join(letter_rows(self.layout))
        lines.append(f"{self.layout.name}: {rows}; the first layout looked at cost {tally.began:.4f}")
        prices = {self.layout.name: self.best, **self.peers}
        lines += [
            f"  {name:12} cost {one.describe(config.dial)} per word, {config.view}" for name, one in prices.items()
        ]
        if config.view != "upright":
            clarities = ", ".join(f"{name} {clarity:.4f}" for name, clarity in self.upright.items())
            lines.append(f"  nats per word upright: {clarities}")
        return lines


@dataclass(frozen=True)
class Problem:
    """A search that can begin: what was asked for, and the words and the task that it names."""

    request: DesignRequest
    config: SearchConfig
    words: SearchWords
    task: DesignTask

    @classmethod
    def read(cls, request: DesignRequest, config: SearchConfig) -> Problem:
        """Read the words and the task."""
        words = request.read_words()
        return cls(request, config, words, request.read_task("".join(words.alphabet)))

    def layout(self, one: Arrangement) -> Layout:
        """A layout that was found, under its name."""
        return self.task.layout(one.slots, self.request.name)

    def search(self, world: World) -> Search:
        """The search of one process, with a judge that agrees with the exact one."""
        quick = make_judge(self.request.weights, self.task, self.config, world)
        if quick.compiled:
            exact = make_judge(self.request.weights, self.task, self.config, world, exact=True)
            check_judges(quick, exact, self.words)
        return Search(self.task, self.words, self.config, quick, world)

    def state(self, rank: int, size: int) -> Path:
        """The checkpoint of one of ``size`` processes."""
        return self.request.out / (f"state-{rank}.json" if size > 1 else "state.json")


Report = Callable[[Progress, Layout], None]


def design(request: DesignRequest, config: SearchConfig, report: Report) -> DesignResult | None:
    """Search, and write the results to ``request.out``.

    An interrupt (Ctrl-C) ends the search early; the results so far are written all the same.

    Args:
        request: which keyboard to search for.
        config: how to search.
        report: called after every round of the leading process with the progress and the best layout so far.

    Returns:
        The result in the leading process; None in the others that torchrun started.
    """
    problem = Problem.read(request, config)
    with join_world(request.device) as world:
        if world.device.type == "cuda":
            torch.set_float32_matmul_precision("high")
        search, state = problem.search(world), problem.state(world.rank, world.size)
        request.out.mkdir(parents=True, exist_ok=True)
        if request.resume:
            search.resume(state)
        elif state.exists():
            raise DesignError(f"{request.out} holds a search; continue it by --resume, or choose another --out")
        show = (lambda progress: report(progress, problem.layout(progress.best))) if world.leads else None
        interrupted = run_search(search, state, show)
        found = checked(search.gather())
        result = finish(problem, found, world, interrupted) if world.leads else None
        world.wait()
        return result


def judge_layouts(
    layouts: Sequence[Layout],
    words: SearchWords,
    weights: str = "judge",
    config: SearchConfig | None = None,
    device: str | None = None,
) -> list[Arrangement]:
    """Costs of layouts in full precision, each on its own keys. Of several keys with one letter the first counts.

    Args:
        layouts: the layouts; all must have the words' letters.
        words: the words to judge by.
        weights: the judge: a packaged encoder, an .onnx file or a .safetensors checkpoint.
        config: only its ``view`` matters.
        device: "cuda" or "cpu"; by default a GPU where there is one.
    """
    judged: list[Arrangement] = []
    with join_world(device) as world:
        for layout in layouts:
            task = make_task(layout, "".join(words.alphabet))
            judge = make_judge(weights, task, config or SearchConfig(), world, exact=True)
            judged += LayoutCosts(task, words, judge, EXACT_MEMO_BITS).arrangements([task.slots(layout)])
    return judged


def describe_progress(progress: Progress, layout: Layout, dial: float) -> str:
    """One line on the state of a search and its best layout."""
    tally, seconds = progress.tally, max(progress.tally.seconds, 1e-9)
    return (
        f"{seconds:6.0f} s  round {tally.rounds:,}  {tally.layouts:,} layouts ({tally.layouts / seconds:,.0f}/s)  "
        f"{tally.swipes / seconds:,.0f} swipes/s  {tally.summits} summits  best {progress.best.describe(dial)}  "
        f"{' / '.join(letter_rows(layout))}"
    )


def run_search(
    search: Search, state: Path, report: Callable[[Progress], None] | None, since: float | None = None
) -> bool:
    """Search until the budget is spent or a person stops it; True where a person did. See ``Search.run``."""
    try:
        search.run(state, report, since)
        return False
    except KeyboardInterrupt:
        if search.archive.best:
            search.save(state)
        return True


def checked(found: Found) -> Found:
    """Refuse to go on with nothing."""
    if not found.archive.best:
        raise DesignError("the search was stopped before its first round was over; nothing was found yet")
    return found


def finish(problem: Problem, found: Found, world: World, interrupted: bool) -> DesignResult:
    """Judge what all processes found in full precision, and write the results.

    Args:
        problem: what was searched for.
        found: what all processes found.
        world: the leading process: its device judges.
        interrupted: whether a person stopped the search.
    """
    torch.set_float32_matmul_precision("highest")
    result = _judge(problem, found, World(world.device), interrupted)
    _write(problem, result, world)
    return result


def _judge(problem: Problem, found: Found, world: World, interrupted: bool) -> DesignResult:
    """Judge the kept layouts again, in full precision: as the search saw them, and upright."""
    request, config, task, dial = problem.request, problem.config, problem.task, problem.config.dial

    def exact_costs(config: SearchConfig) -> LayoutCosts:
        judge = make_judge(request.weights, task, config, world, exact=True)
        return LayoutCosts(task, problem.words, judge, EXACT_MEMO_BITS)

    costs = exact_costs(config)
    best = min(costs.arrangements([one.slots for one in found.archive.best]), key=lambda one: one.total(dial))
    front = undominated(costs.arrangements([one.slots for one in found.archive.front()]))
    peers = {}
    for name in dict.fromkeys([*([request.start] if request.start else []), *PEERS]):
        with contextlib.suppress(LayoutError):  # it has other keys or letters, so it cannot be compared
            peers[name] = costs.arrangements([task.slots(load_layout(name))])[0]
    shown = {request.name: best, **peers}
    seen = costs if config.view == "upright" else exact_costs(replace(config, view="upright"))
    nats = [one.clarity for one in seen.arrangements([one.slots for one in shown.values()])]
    clarity = dict(zip(shown, nats, strict=True))
    return DesignResult(problem.layout(best), best, peers, clarity, front, replace(found.tally), interrupted)


def _write(problem: Problem, result: DesignResult, world: World) -> None:
    """Write layout, picture, front and account."""
    request, words = problem.request, problem.words
    write_json(request.out / "layout.json", result.layout.to_dict())
    save_svg(request.out / "layout.svg", result.layout, title=request.name)
    write_front(request.out, result.front, problem.task, request.name)
    tally, dial = result.tally, problem.config.dial

    def price(one: Arrangement) -> dict[str, float]:
        return {"cost": one.total(dial), "clarity": one.clarity, "travel": one.travel}

    account = {
        **price(result.best),
        "rows": letter_rows(result.layout),
        "peers": {name: price(peer) for name, peer in result.peers.items()},
        "upright": result.upright,
        "tally": asdict(tally),
        "layouts_per_second": tally.layouts / max(tally.seconds, 1e-9),
        "swipes_per_second": tally.swipes / max(tally.seconds, 1e-9),
        "processes": world.size,
        "device": str(world.device),
        "words": {"count": len(words), "coverage": words.coverage, "source": words.source},
        "config": asdict(problem.config),
        "request": {name: str(value) if isinstance(value, Path) else value for name, value in vars(request).items()},
        "interrupted": result.interrupted,
    }
    write_json(request.out / "search.json", account)
