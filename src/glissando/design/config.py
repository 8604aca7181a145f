"""What a search is told: which keyboard to search for, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from glissando.design.task import DesignTask, letters_of_language, make_task, parse_grid
from glissando.design.words import SearchWords
from glissando.errors import DesignError
from glissando.layout import load_layout
from glissando.model.settings import Config, setting

DEFAULT_WORDS = 2000


@dataclass(frozen=True)
class SearchConfig(Config):
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

    dial: float = setting(16.0, "[0, inf)")
    spread: float = setting(0.25, "[0, 1]")
    climbers: int = setting(4, "[1, inf)")
    swaps: int = setting(0, "[0, inf)")
    combos: int = setting(6, "[1, inf)")
    kick: tuple[int, int] = setting((2, 5), "[1, inf)")
    patience: int = setting(8, "[1, inf)")
    minutes: float = setting(20.0, "(0, inf)")
    rounds: int = setting(0, "[0, inf)")
    seed: int = setting(0, "[0, inf)")
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    view: Literal["upright", "turned"] = "upright"
    batch: int = setting(0, "[0, inf)")
    memo_bits: int = setting(0, "[0, 32]")
    keep: int = setting(16, "[1, inf)")
    checkpoint_seconds: float = setting(30.0, "[0, inf)")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kick[0] > self.kick[1]:
            raise DesignError(f"kick must be the least and the most swaps, got {self.kick}")
        if 0 < self.memo_bits < 8:
            raise DesignError(f"memo_bits must be 0, or 8 to 32, got {self.memo_bits}")


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
