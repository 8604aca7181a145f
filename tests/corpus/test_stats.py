"""The dataset table by hand, and its first rows for real swipes."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from glissando.corpus.records import Swipe
from glissando.corpus.stats import CorpusStats, Spread, Tally, corpus_stats, stats_table
from glissando.errors import CorpusError
from glissando.gesture import Gesture


def _swipe(word: str, times: list[float], **more: object) -> Swipe:
    line = np.linspace(0, 1, len(times))
    return Swipe(word, Gesture(line, line, times), "qwerty", **more)  # type: ignore[arg-type]


SWIPES = [
    _swipe("ab", [0, 10, 20], session="p1", sentence="ab cd", key_distance=1.0, language="en"),
    _swipe(
        "cd", [0, 10, 20, 30, 40], session="p1", sentence="ab cd", key_distance=3.0, canvas_width=2, canvas_height=1
    ),
    _swipe("ab", [0, 3000], session="p2"),
]


def test_by_hand() -> None:
    stats = corpus_stats(iter(SWIPES), {"[bold] fingers": 1, "ill-formed line": 50})
    assert (stats.swipes, stats.words, stats.sessions, stats.sentences) == (3, 2, 2, 1)
    assert (stats.duration_ms.median, stats.points.median) == (40, 3)
    assert stats.filtering_rate == 0.25  # lines are no swipes
    assert stats.key_distance == Spread(1.1, 2.0, 2.9)
    assert stats.follows == 0.5
    assert stats.aspect == Spread(0.5, 0.5, 0.5)
    assert stats.interval_ms == Spread(10, 10, 1000)  # six of 10 ms, one over a second
    assert stats.layouts == {"qwerty": 3}
    assert stats.languages == {"unknown": 2, "en": 1}
    assert "Left out: [bold] fingers" in _printed(stats)
    assert "Median swipe duration (ms)" in _printed(stats)


def _printed(stats: CorpusStats) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(stats_table(stats))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_taps_without_people_or_sentences() -> None:
    stats = corpus_stats([_swipe("a", [0])])
    assert (stats.sessions, stats.sentences, stats.interval_ms, stats.key_distance) == (None, None, None, None)
    assert re.search(r"Unique anonymized sessions +-", _printed(stats))
    with pytest.raises(CorpusError, match=r"no swipe in the corpus \(left out: \{'two fingers': 2\}\)"):
        corpus_stats([], {"two fingers": 2})


def test_tallies_of_parts_add_up_in_any_order() -> None:
    rng = np.random.default_rng(0)
    swipes = [
        _swipe(
            str(rng.choice(["ab", "abc", "b"])), np.cumsum(rng.uniform(1, 30, size=rng.integers(2, 9))).tolist(),
            session=str(rng.integers(3)), key_distance=float(rng.uniform(0, 4)), canvas_width=360,
            canvas_height=float(rng.integers(150, 160)),
        )
        for _ in range(60)
    ]  # fmt: skip
    whole = corpus_stats(swipes, {"two fingers": 2})
    values = [round(swipe.gesture.duration, 4) for swipe in swipes]
    assert list(vars(whole.duration_ms).values()) == np.round(np.quantile(values, (0.05, 0.5, 0.95)), 4).tolist()
    sum_ = Tally()
    sum_.dropped["two fingers"] = 2
    for part in (swipes[40:], swipes[:15], swipes[15:40]):
        tally = Tally()
        for swipe in part:
            tally.count(swipe)
        sum_.add(tally)
    assert sum_.stats() == whole
