"""What a search is told: which keyboard to search for, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from glissando.design.task import DesignTask, letters_of_language, make_task, parse_grid
from glissando.design.words import SearchWords
from glissando.errors import DesignError
from glissando.layout import load_layout

DEFAULT_WORDS = 2000


@dataclass(frozen=True)
class SearchConfig:
    """How layouts are searched for.

    Attributes:
        dial: nats of clarity that a second of swiping is worth; 0 ignores travel. At 16 both weigh the same: over
            random layouts of five rows, clarity spreads as much as sixteen times the seconds (runs/design_dial.py).
        spread: share of the climbers that use other dials, from a quarter of it to four times it. They fill the front
            between clarity and travel.
        climbers: layouts that are improved side by side, in each process.
        swaps: swaps each climber looks at before it steps; 0 means all on a GPU and 64 on a CPU.
        combos: the most swaps without a common letter that a climber tries together.
        kick: the least and the most random swaps that take a climber off a summit.
        patience: summits no better than its best after which a climber starts from scratch.
        minutes: how long to search.
        rounds: end after this many steps of all climbers; 0 means no limit. With a limit a run repeats exactly.
        seed: of everything random.
        precision: "bf16", "fp32", or "auto": bf16 on a GPU. The layouts that are kept are judged again in fp32.
        view: "upright" shows the judge every keyboard as people hold it; "turned" shows it with x and y exchanged,
            for judges that know QWERTY by heart, as the packaged "encoder" does and "judge" does not.
        batch: words the encoder reads at once; 0 means what suits the device.
        memo_bits: 2^bits costs of words are remembered, 16 bytes each; 0 means 22 on a CPU and 28 on a GPU.
        keep: best layouts to keep.
        checkpoint_seconds: least time between checkpoints.
    """

    dial: float = 16.0
    spread: float = 0.25
    climbers: int = 4
    swaps: int = 0
    combos: int = 6
    kick: tuple[int, int] = (2, 5)
    patience: int = 8
    minutes: float = 20.0
    rounds: int = 0
    seed: int = 0
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    view: Literal["upright", "turned"] = "upright"
    batch: int = 0
    memo_bits: int = 0
    keep: int = 16
    checkpoint_seconds: float = 30.0

    def __post_init__(self) -> None:
        for name in ("climbers", "combos", "patience", "keep"):
            self._check(name, getattr(self, name) >= 1, "at least 1")
        for name in ("dial", "swaps", "batch", "rounds", "seed", "checkpoint_seconds"):
            self._check(name, getattr(self, name) >= 0, "0 or more")
        self._check("minutes", self.minutes > 0, "above 0")
        self._check("spread", 0 <= self.spread <= 1, "a share, in [0, 1]")
        self._check("kick", 1 <= self.kick[0] <= self.kick[1], "two numbers from 1, the smaller first")
        self._check("memo_bits", self.memo_bits == 0 or 8 <= self.memo_bits <= 32, "0, or 8 to 32")

    def _check(self, name: str, good: bool, need: str) -> None:
        """Refuse a setting out of its range."""
        if not good:
            raise DesignError(f"{name} must be {need}, got {getattr(self, name)}")


@dataclass(frozen=True)
class DesignRequest:
    """Which keyboard to search for.

    Attributes:
        out: directory for the results.
        grid: row lengths, a built-in layout or a layout file; by default ``start``'s keys.
        stagger: how much further right each row starts, in key widths.
        language: of the word list, and of the layout.
        lexicon: a word list instead of the language's.
        words: an .npz that ``SearchWords.save`` wrote, instead of both.
        count: most frequent words to judge by.
        coverage: share of running text to judge by, instead of a count.
        letters: the alphabet; by default the language's.
        start: a layout to begin from.
        pin: letters that stay, "aeiou" or "a=2.3 e=2.4".
        max_swaps: the most swaps a layout may be away from ``start``.
        weights: the judge: a packaged encoder, an .onnx file or a .safetensors checkpoint.
        name: the name of the layout that is found.
        resume: continue from the checkpoint in ``out``.
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

    def read_words(self) -> SearchWords:
        """The words to judge layouts by."""
        if self.words is not None:
            return SearchWords.load(self.words)
        from glissando.lexicon import load_lexicon

        letters = self.letters or letters_of_language(self.language)
        count = DEFAULT_WORDS if self.count is None and self.coverage is None else self.count
        return SearchWords.choose(load_lexicon(self.lexicon or self.language), letters, count, self.coverage)

    def read_task(self, letters: str) -> DesignTask:
        """The grid, these letters, and what must stay."""
        start = None if self.start is None else load_layout(self.start)
        grid = parse_grid(self.grid, self.stagger) if self.grid is not None else start
        if grid is None:
            raise DesignError("a search needs a grid such as 4-6-6-6-4, or a layout to start from")
        grid = replace(grid, language=self.language)
        return make_task(grid, letters, start=start, pins=self.pin, max_swaps=self.max_swaps)
