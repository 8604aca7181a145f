"""The keyboard's mistakes on swipes whose words are known, the cause of each, and a gallery of the most confident.

A mistake has the first of these causes that fits:

1. label noise: the swipe misses a key of the word it is filed under, or strays from the lines between them, by more
   than ``FAR`` key widths, and follows the answer better by ``MARGIN`` or more. People do swipe another word than
   the prompt's.
2. doubled letters: the two words differ in nothing but doubled letters (too, to).
3. straight-line letters: every letter that one word has and the other has not lies within ``COLINEAR`` key widths of
   the line between the letters around it that both have (stream, steam; pit, put).
4. neighbours: as many letters, and those that differ are on keys at most ``ADJACENT`` key widths apart (for, foe).
5. rare word: the word meant is rarer by ``RARE`` or more in the lexicon's byte, 36 of which are a factor of ten.
6. other.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np

from glissando.corpus.filters import key_distance
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe
from glissando.corpus.sources import all_files
from glissando.ctc import align, word_costs
from glissando.design.measures import COLINEAR, clearance, key_scale, key_sequence
from glissando.errors import CorpusError, GlissandoError
from glissando.evaluation.evaluate import EvaluationOptions, judged_board, keyboard_for, read_targets, with_aspect
from glissando.figures.style import COLOURS, INK, MUTED, draw_keys, draw_trail, figure, heading, panels, set_fonts
from glissando.gesture import resample
from glissando.keyboard import Keyboard
from glissando.layout import Layout
from glissando.lexicon import typed_letters

CAUSES = ("label noise", "doubled letters", "straight-line letters", "neighbours", "rare word", "other")
FAR = 1.25  # key widths
MARGIN = 0.5  # key widths
ADJACENT = 1.5  # key widths between centres: the keys around a key, those of the next row too
RARE = 40  # bytes
CHUNK = 256  # swipes decoded between two reports of progress

COLUMNS = 5  # of the gallery
PANEL = 2.2  # inches
TITLES = 0.75  # inches of a row beside its keyboards
HEADING = 0.3  # inches of a cause's heading
ROOM = 26  # characters of a title that fit
UNSURE = 0.1  # probability below which a letter counts as unseen


@dataclass(frozen=True, eq=False)
class Mistake:
    """A swipe that was read as another word.

    Attributes:
        swipe, layout: what was swiped, and where.
        target: the letters meant.
        answer: the letters read.
        confidence: the answer's share among the candidates, 0 to 1.
        reading: the letters the network reads without a lexicon.
        moments: [n] where along the swipe forced alignment puts each letter of the target, 0 to 1.
        seen: [n] the network's probability for it there.
        evidence: nats by which the network alone prefers the answer; negative where it preferred the target.
        frequencies: the lexicon's bytes of target and answer.
        cause: one of CAUSES.
    """

    swipe: Swipe
    layout: Layout
    target: str
    answer: str
    confidence: float
    reading: str
    moments: np.ndarray
    seen: np.ndarray
    evidence: float
    frequencies: tuple[int, int]
    cause: str

    def to_dict(self) -> dict[str, object]:
        """The JSON form, without the swipe's points."""
        plain = ("target", "answer", "confidence", "reading", "evidence", "frequencies", "cause")
        return {"layout": self.layout.name, **{name: getattr(self, name) for name in plain}, "seen": self.seen.tolist()}


@dataclass(frozen=True)
class Findings:
    """Every mistake, the most confident first, and how many swipes were read."""

    mistakes: tuple[Mistake, ...]
    swipes: int


def find_mistakes(
    sources: Sequence[str | Path], options: EvaluationOptions, progress: Callable[[int, int], None] | None = None
) -> Findings:
    """Decode the swipes of some sources and keep what was read wrong."""
    if options.method != "encoder":
        raise GlissandoError(f"mistakes are explained by the encoder's emissions; method {options.method!r} has none")
    shelf = LayoutShelf(options.layouts)
    groups: dict[str, list[Swipe]] = defaultdict(list)
    for file in all_files(sources):
        for swipe in read_targets(file, shelf, options):
            groups[swipe.layout].append(swipe)
    total = sum(map(len, groups.values()))
    if not total:
        raise CorpusError("no swipe to read: the files are empty or every swipe was filtered out")
    mistakes: list[Mistake] = []
    done = 0
    for name, swipes in groups.items():
        words = [swipe.word for swipe in swipes]
        keyboard = judged_board(keyboard_for(with_aspect(shelf[name], swipes), words, options)[0], options)
        assert isinstance(keyboard, Keyboard)
        for start in range(0, len(swipes), CHUNK):
            chunk = swipes[start : start + CHUNK]
            mistakes += _mistakes(keyboard, chunk)
            done += len(chunk)
            if progress:
                progress(done, total)
    return Findings(tuple(sorted(mistakes, key=lambda one: -one.confidence)), total)


def count_causes(mistakes: Sequence[Mistake]) -> dict[str, int]:
    """How many mistakes have each cause, in the order of CAUSES."""
    counts = Counter(mistake.cause for mistake in mistakes)
    return {cause: counts[cause] for cause in CAUSES}


def draw_gallery(mistakes: Sequence[Mistake]) -> Any:
    """A panel for each mistake, those of a cause together.

    Above the keys: the word meant, the word read and its share. On them: the swipe, and a ring where each letter of
    the word meant was looked for. Below: that letter's probability there in percent, and the network's own reading.
    """
    groups = [[one for one in mistakes if one.cause == cause] for cause in CAUSES]
    groups = [group for group in groups if group]
    aspect = max(one.layout.aspect for one in mistakes)
    heights = [HEADING + math.ceil(len(group) / COLUMNS) * (PANEL * aspect + TITLES) for group in groups]
    drawn = figure(PANEL * COLUMNS, sum(heights))
    parts = drawn.subfigures(len(groups), 1, squeeze=False, height_ratios=heights)[:, 0]
    for part, group in zip(parts, groups, strict=True):
        heading(part, f"{group[0].cause}: {len(group)} of {len(mistakes)}")
        for axes, mistake in zip(panels(part, len(group), COLUMNS), group, strict=True):
            _draw_mistake(axes, mistake)
    return set_fonts(drawn, {one.layout.name: one.layout for one in mistakes}.values())


def cause_of(target: str, answer: str, swipe: Swipe, layout: Layout, gap: int) -> str:
    """The first cause that fits (see above); ``gap`` is the answer's byte minus the target's."""
    if (strayed := stray(target, swipe, layout)) > FAR and stray(answer, swipe, layout) <= strayed - MARGIN:
        return "label noise"
    (meant, meant_keys), (read, read_keys) = key_sequence(target, layout), key_sequence(answer, layout)
    if meant == read:
        return "doubled letters"
    if _is_straight(meant, meant_keys, read, read_keys):
        return "straight-line letters"
    if len(meant) == len(read) and np.all(np.hypot(*(meant_keys - read_keys).T) <= ADJACENT):
        return "neighbours"
    return "rare word" if gap >= RARE else "other"


def stray(word: str, swipe: Swipe, layout: Layout) -> float:
    """How far a swipe is from a word at the worst, in key widths: by a key it misses, or off the lines between keys."""
    true = replace(layout, aspect=swipe.aspect or layout.aspect)
    missed = key_distance(word, swipe.gesture, true)
    _, keys = key_sequence(word, true)
    points = np.column_stack([swipe.gesture.x, swipe.gesture.y]) * key_scale(true)
    off = clearance(keys[:-1], points[:, None], keys[1:]) if len(keys) > 1 else np.hypot(*(points - keys).T)[:, None]
    return max(missed.max if missed else 0.0, float(off.min(axis=1).max()))  # off: [n, L - 1]


def _is_straight(a: str, a_keys: np.ndarray, b: str, b_keys: np.ndarray) -> bool:
    """Whether all letters that two words do not share lie between letters that they do. Shape: keys [len, 2]."""
    for kind, i, i_end, j, j_end in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if i == 0 or i_end == len(a):  # beyond the first or the last letter there is no line
            return False
        extra = np.concatenate([a_keys[i:i_end], b_keys[j:j_end]])
        if np.any(clearance(a_keys[i - 1], extra, a_keys[i_end]) >= COLINEAR):
            return False
    return True


def _mistakes(keyboard: Keyboard, swipes: Sequence[Swipe]) -> Iterator[Mistake]:
    """Decode some swipes; yield those read wrong."""
    gestures = [swipe.gesture for swipe in swipes]
    stages = keyboard.stages(gestures, keyboard.width)
    log_probs, literal = stages.readings.log_probs, keyboard.greedy(stages.readings.log_probs)
    letters = frozenset(keyboard.layout.letters)
    for row, swipe in enumerate(swipes):
        target = "".join(typed_letters(swipe.word, letters))
        candidates = stages.candidates[row]
        if not candidates or candidates[0].letters == target:
            continue
        answer = candidates[0].letters
        bytes_ = _byte(keyboard, target), candidates[0].frequency
        labels = [[keyboard.trie.letters.index(letter) for letter in word] for word in (target, answer)]
        meant, read = word_costs(log_probs[[row, row]], labels)
        frames = np.array(align(log_probs[row], labels[0]).frames)
        yield Mistake(
            swipe, keyboard.layout, target, answer,
            sum(one.probability for one in candidates if one.letters == answer),
            literal[row], (frames + 1) / log_probs.shape[1], np.exp(log_probs[row, frames, labels[0]]),
            float(meant - read), bytes_, cause_of(target, answer, swipe, keyboard.layout, bytes_[1] - bytes_[0]),
        )  # fmt: skip


def _byte(keyboard: Keyboard, typed: str) -> int:
    """The frequency byte of a spelling's likeliest word; 0 where the lexicon lacks it."""
    trie = keyboard.trie
    node = trie.find(typed)
    if node < 0 or trie.endings[node] == trie.endings[node + 1]:
        return 0
    return int(keyboard.lexicon.frequencies[trie.words[trie.endings[node]]])


def _draw_mistake(axes: Any, mistake: Mistake) -> None:
    """One mistake's panel."""
    layout = mistake.layout
    draw_keys(axes, layout, set(mistake.target), size=6.5, boxes=False)
    points = resample(mistake.swipe.gesture)
    draw_trail(axes, layout, points, COLOURS[0], width=1.5)
    at = [max(round(moment * points.shape[1]) - 1, 0) for moment in mistake.moments]
    axes.plot(points[0, at], points[1, at] * layout.aspect, "o", ms=4.5, mfc="none", mec=COLOURS[1], mew=1, zorder=5)
    title = f"{mistake.target} → {mistake.answer}  {100 * mistake.confidence:.0f} %"
    axes.set_title(title, fontsize=8.5 * min(1, ROOM / len(title)), color=INK, pad=4)
    step = min(0.11, 1 / len(mistake.target))
    left = 0.5 - step * (len(mistake.target) - 1) / 2
    for number, (letter, share) in enumerate(zip(mistake.target, mistake.seen.tolist(), strict=True)):
        colour = COLOURS[1] if share < UNSURE else INK
        place = {"x": left + step * number, "transform": axes.transAxes, "ha": "center", "va": "top", "color": colour}
        axes.text(y=-0.02, s=letter, fontsize=8, fontweight="bold", parse_math=False, **place)
        axes.text(y=-0.17, s=f"{100 * share:.0f}", fontsize=6, **place)
    reading = mistake.reading or "nothing"
    note = {"transform": axes.transAxes, "ha": "center", "va": "top", "color": MUTED, "fontsize": 7.5}
    axes.text(0.5, -0.31, f"reads {reading}", parse_math=False, **note)
