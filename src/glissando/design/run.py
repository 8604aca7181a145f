"""A search from what a person asks for to the files it leaves: the layout, its picture, the front, the account."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from glissando.design.archive import Archive, Found
from glissando.design.config import SearchConfig
from glissando.design.cost import LayoutCosts
from glissando.design.judge import Emit, Judge, Precision, runtime_emitter, torch_emitter
from glissando.design.search import Progress, Search, Tally
from glissando.design.spelling import Spelling
from glissando.design.task import DesignTask, letters_of_language, make_task, parse_grid, parse_pins
from glissando.drawing import save_svg
from glissando.errors import DesignError, LayoutError
from glissando.files import write_whole
from glissando.layout import Layout, load_layout
from glissando.model.checkpoint import load_encoder
from glissando.train.world import World, join_world

DEFAULT_WORDS = 2000
CHECKED = 512  # words on which the quick judge is compared with the exact one
DISAGREEMENT = 0.2  # nats per word; bfloat16 costs about 0.03
PEERS = ("kasroz", "clearflow")  # layouts to compare with where they fit the grid

ExactCosts = Callable[[list[tuple[int, ...]]], list[Found]]


@dataclass(frozen=True)
class DesignRequest:
    """What to search for.

    Attributes:
        out: directory for the results.
        grid: row lengths, a built-in layout or a layout file; by default ``start``'s keys.
        stagger: how much further right each row starts, in key widths.
        language: of the word list, and of the layout.
        lexicon: a word list instead of the language's.
        words: an .npz that ``Spelling.save`` wrote, instead of both.
        count: most frequent words to judge by.
        coverage: share of running text to judge by, instead of a count.
        letters: the alphabet; by default the language's.
        start: a layout to begin from.
        pin: letters that stay, "aeiou" or "a=2.3 e=2.4".
        max_swaps: how many swaps from ``start`` a layout may be.
        weights: the judge: a packaged encoder, an .onnx file or a .safetensors checkpoint.
        name: what to call the layout that is found.
        resume: go on from the checkpoint in ``out``.
        device: "cuda" or "cpu"; by default a GPU where there is one.
    """

    out: Path
    grid: str | None = None
    stagger: float | None = None
    language: str = "en"
    lexicon: Path | None = None
    words: Path | None = None
    count: int | None = None
    coverage: float | None = None
    letters: str | None = None
    start: str | None = None
    pin: str = ""
    max_swaps: int | None = None
    weights: str = "judge"
    name: str = "designed"
    resume: bool = False
    device: str | None = None


@dataclass(frozen=True)
class Designed:
    """What a search found.

    Attributes:
        layout: the best layout.
        best: its costs, in full precision.
        peers: known layouts on the same grid, and the one it started from, by name.
        upright: nats per word of the best and of the peers as the encoder reads them upright, by name.
        front: layouts that none beats in both clarity and travel.
        tally: what was done for it.
        interrupted: whether it was stopped by hand.
    """

    layout: Layout
    best: Found
    peers: dict[str, Found]
    upright: dict[str, float]
    front: list[Found]
    tally: Tally
    interrupted: bool


def read_words(request: DesignRequest) -> Spelling:
    """The words to judge by."""
    if request.words is not None:
        return Spelling.load(request.words)
    from glissando.lexicon import load_lexicon

    letters = request.letters or letters_of_language(request.language)
    count = DEFAULT_WORDS if request.count is None and request.coverage is None else request.count
    return Spelling.of(load_lexicon(request.lexicon or request.language), letters, count, request.coverage)


def read_task(request: DesignRequest, letters: str) -> DesignTask:
    """Grid, letters and what must stay."""
    if request.grid is None and request.start is None:
        raise DesignError("a search needs a grid such as 4-6-6-6-4, or a layout to start from")
    start = None if request.start is None else load_layout(request.start)
    grid = parse_grid(request.grid, request.stagger) if request.grid is not None else start
    assert grid is not None
    pins = parse_pins(request.pin, grid, start)
    return make_task(grid, letters, language=request.language, start=start, pins=pins, max_swaps=request.max_swaps)


def design(request: DesignRequest, config: SearchConfig, report: Callable[[Progress, Layout], None]) -> Designed:
    """Search, and write what was found to ``request.out``.

    An interrupt (Ctrl-C) ends the search early; what was found until then is written all the same.

    Args:
        request: what to search for.
        config: how.
        report: called after every round of the leading process with the progress and the best layout so far.
    """
    words = read_words(request)
    task = read_task(request, "".join(words.alphabet))
    with join_world(request.device) as world:
        if world.device.type == "cuda":
            torch.set_float32_matmul_precision("high")
        quick = make_judge(request.weights, task, config, world)
        exact = make_judge(request.weights, task, config, world, exact=True)
        if quick.fused:
            check_judges(quick, exact, words)
        search = Search(task, words, config, quick, world)
        request.out.mkdir(parents=True, exist_ok=True)
        state = request.out / (f"state-{world.rank}.json" if world.size > 1 else "state.json")
        if request.resume:
            search.resume(state)
        elif state.exists():
            raise DesignError(f"{request.out} holds a search; go on with it by --resume, or choose another --out")
        interrupted = _run(search, state, lambda p: report(p, task.layout(p.best.slots, request.name)))
        search.gather()
        if not search.archive.best:
            raise DesignError("the search was stopped before its first round was over; nothing was found yet")
        upright = make_judge(request.weights, task, replace(config, view="upright"), world, exact=True)
        judges = exact_costs(task, words, exact), exact_costs(task, words, upright)
        found = _finish(search, judges, request, interrupted)
        if world.leads:
            write_results(request, config, words, found, search)
        world.wait()
        return found


def _run(search: Search, state: Path, report: Callable[[Progress], None]) -> bool:
    """Search until the budget is spent, or a person stops it; say whether one did."""
    try:
        search.run(state, report if search.world.leads else None)
        return False
    except KeyboardInterrupt:
        if search.archive.best:
            search.save(state)
        return True


def make_judge(weights: str, task: DesignTask, config: SearchConfig, world: World, exact: bool = False) -> Judge:
    """The encoder on the task's keys, as quick as the device allows, or in full precision."""
    half = config.precision == "bf16" or (config.precision == "auto" and world.device.type == "cuda")
    precision: Precision = "bf16" if half and not exact else "fp32"
    turned = config.view == "turned"
    emit: Emit
    if weights.endswith(".safetensors"):
        emit = torch_emitter(load_encoder(weights)[0], task, world.device, precision, turned)
    elif world.device.type == "cuda":
        from glissando.design.packaged import encoder_from_onnx
        from glissando.weights import load_weights

        emit = torch_emitter(encoder_from_onnx(load_weights(weights)), task, world.device, precision, turned)
    else:
        threads = max(1, (os.cpu_count() or 1) // world.size)
        emit = runtime_emitter(weights, task, threads, turned)
    return Judge(emit, task, world.device, fast=not exact, batch=0 if exact else config.batch)


def check_judges(quick: Judge, exact: Judge, words: Spelling) -> None:
    """Refuse a quick judge whose compiled kernels do not agree with the plain form on this device."""
    count = min(len(words), CHECKED)
    slots = torch.tensor(words.letters[:count], device=quick.device).long()  # letter k on key k: as good as any layout
    lengths = torch.tensor(words.lengths[:count], device=quick.device)
    off = float((quick.costs(slots, lengths) - exact.costs(slots, lengths)).abs().mean())
    quick.swipes = 0
    if not off < DISAGREEMENT:
        raise DesignError(
            f"the encoder's compiled form is {off:.3g} nats per word off its plain form; try --set precision=fp32"
        )


def exact_costs(task: DesignTask, words: Spelling, judge: Judge) -> ExactCosts:
    """A function from layouts to their costs in full precision."""
    if judge.device.type == "cuda":
        torch.set_float32_matmul_precision("highest")
    costs = LayoutCosts(task, words, judge, 20)

    @torch.no_grad()
    def found(layouts: list[tuple[int, ...]]) -> list[Found]:
        clarity, travel = costs.of(torch.tensor(layouts, device=judge.device))
        rows = zip(layouts, clarity.tolist(), travel.tolist(), strict=True)
        return [Found(one, other, tuple(slots)) for slots, one, other in rows]

    return found


def _finish(
    search: Search, judges: tuple[ExactCosts, ExactCosts], request: DesignRequest, interrupted: bool
) -> Designed:
    """Judge the layouts that were kept again, in full precision: as the search saw them, and upright."""
    exact, upright = judges
    task, dial = search.task, search.config.dial
    best = min(exact([found.slots for found in search.archive.best]), key=lambda one: one.total(dial))
    again = Archive(dial, search.config.keep)
    again.restore({"best": [], "bins": [vars(one) for one in exact([found.slots for found in search.archive.front()])]})
    peers = {}
    for name in dict.fromkeys([*([request.start] if request.start else []), *PEERS]):
        with contextlib.suppress(LayoutError):  # it has other keys or letters, so there is nothing to compare
            peers[name] = exact([task.slots(load_layout(name))])[0]
    layout = task.layout(best.slots, request.name)
    shown = {request.name: best, **peers}
    read = dict(zip(shown, (one.clarity for one in upright([one.slots for one in shown.values()])), strict=True))
    return Designed(layout, best, peers, read, again.front(), replace(search.tally), interrupted)


def write_results(
    request: DesignRequest, config: SearchConfig, words: Spelling, found: Designed, search: Search
) -> None:
    """Write layout, picture, front and account."""
    write_json(request.out / "layout.json", found.layout.to_dict())
    save_svg(request.out / "layout.svg", found.layout, title=request.name)
    task, dial = search.task, config.dial
    front = [
        {
            "clarity": one.clarity,
            "travel": one.travel,
            "layout": task.layout(one.slots, f"{request.name}-{round(1000 * one.travel)}").to_dict(),
        }
        for one in found.front
    ]
    write_json(request.out / "front.json", front)
    tally = found.tally
    account = {
        "cost": found.best.total(dial), "clarity": found.best.clarity, "travel": found.best.travel,
        "rows": ["".join(found.layout.letters[key] for key in row) for row in found.layout.rows],
        "peers": {name: {"cost": peer.total(dial), "clarity": peer.clarity, "travel": peer.travel}
                  for name, peer in found.peers.items()},
        "upright": found.upright,
        "tally": asdict(tally),
        "layouts_per_second": tally.layouts / max(tally.seconds, 1e-9),
        "swipes_per_second": tally.swipes / max(tally.seconds, 1e-9),
        "processes": search.world.size, "device": str(search.world.device),
        "words": {"count": len(words), "coverage": words.coverage, "source": words.source},
        "config": asdict(config),
        "request": {name: str(value) if isinstance(value, Path) else value for name, value in vars(request).items()},
        "interrupted": found.interrupted,
    }  # fmt: skip
    write_json(request.out / "search.json", account)


def write_json(path: Path, data: Any) -> None:
    """Write a file that people may read, whole or not at all."""
    write_whole(path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
