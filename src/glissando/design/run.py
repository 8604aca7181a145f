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
from glissando.design.judge import Judge, check_judges, make_judge
from glissando.design.search import Progress, Search, Tally
from glissando.design.task import make_task
from glissando.design.words import SearchWords
from glissando.drawing import save_svg
from glissando.errors import DesignError, LayoutError
from glissando.layout import Layout, load_layout
from glissando.train.world import join_world

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


def design(
    request: DesignRequest, config: SearchConfig, report: Callable[[Progress, Layout], None]
) -> DesignResult | None:
    """Search, and write the results to ``request.out``.

    An interrupt (Ctrl-C) ends the search early; the results so far are written all the same.

    Args:
        request: which keyboard to search for.
        config: how to search.
        report: called after every round of the leading process with the progress and the best layout so far.

    Returns:
        The result in the leading process; None in the others that torchrun started.
    """
    words = request.read_words()
    task = request.read_task("".join(words.alphabet))
    with join_world(request.device) as world:
        if world.device.type == "cuda":
            torch.set_float32_matmul_precision("high")
        quick, exact = (make_judge(request.weights, task, config, world, exact) for exact in (False, True))
        if quick.compiled:
            check_judges(quick, exact, words)
        search = Search(task, words, config, quick, world)
        request.out.mkdir(parents=True, exist_ok=True)
        state = request.out / (f"state-{world.rank}.json" if world.size > 1 else "state.json")
        if request.resume:
            search.resume(state)
        elif state.exists():
            raise DesignError(f"{request.out} holds a search; continue it by --resume, or choose another --out")
        interrupted = _run(search, state, lambda p: report(p, task.layout(p.best.slots, request.name)))
        search.gather()
        if not search.archive.best:
            raise DesignError("the search was stopped before its first round was over; nothing was found yet")
        result = None
        if world.leads:
            torch.set_float32_matmul_precision("highest")
            upright = exact
            if config.view != "upright":
                upright = make_judge(request.weights, task, replace(config, view="upright"), world, exact=True)
            result = _finish(search, exact, upright, request, interrupted)
            _write(request, search, result)
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


def _run(search: Search, state: Path, report: Callable[[Progress], None]) -> bool:
    """Search until the budget is spent or a person stops it; True where a person did."""
    try:
        search.run(state, report if search.world.leads else None)
        return False
    except KeyboardInterrupt:
        if search.archive.best:
            search.save(state)
        return True


def _finish(search: Search, exact: Judge, upright: Judge, request: DesignRequest, interrupted: bool) -> DesignResult:
    """Judge the kept layouts again, in full precision: as the search saw them, and upright."""
    task, dial = search.task, search.config.dial
    costs = LayoutCosts(task, search.words, exact, EXACT_MEMO_BITS)
    best = min(costs.arrangements([one.slots for one in search.archive.best]), key=lambda one: one.total(dial))
    front = undominated(costs.arrangements([one.slots for one in search.archive.front()]))
    peers = {}
    for name in dict.fromkeys([*([request.start] if request.start else []), *PEERS]):
        with contextlib.suppress(LayoutError):  # it has other keys or letters, so it cannot be compared
            peers[name] = costs.arrangements([task.slots(load_layout(name))])[0]
    shown = {request.name: best, **peers}
    seen = costs if upright is exact else LayoutCosts(task, search.words, upright, EXACT_MEMO_BITS)
    nats = [one.clarity for one in seen.arrangements([one.slots for one in shown.values()])]
    layout, clarity = task.layout(best.slots, request.name), dict(zip(shown, nats, strict=True))
    return DesignResult(layout, best, peers, clarity, front, replace(search.tally), interrupted)


def _write(request: DesignRequest, search: Search, result: DesignResult) -> None:
    """Write layout, picture, front and account."""
    write_json(request.out / "layout.json", result.layout.to_dict())
    save_svg(request.out / "layout.svg", result.layout, title=request.name)
    write_front(request.out, result.front, search.task, request.name)
    tally, words, dial = result.tally, search.words, search.config.dial

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
        "processes": search.world.size,
        "device": str(search.world.device),
        "words": {"count": len(words), "coverage": words.coverage, "source": words.source},
        "config": asdict(search.config),
        "request": {name: str(value) if isinstance(value, Path) else value for name, value in vars(request).items()},
        "interrupted": result.interrupted,
    }
    write_json(request.out / "search.json", account)
