"""Validity by hand; key distances against a slow twin and against the distances our files bring."""

import json
from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

from glissando.corpus.filters import (
    KeyDistance,
    Validity,
    invalid_reason,
    keep_valid,
    key_distance,
    match_in_order,
    measured,
    with_distances,
)
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe, read_swipes
from glissando.gesture import Gesture
from glissando.layout import Key, Layout

# Two square keys on a letter area half as high as wide: a at (.25, .5), b at (.75, .5), each half as wide as the area.
TWO = Layout("two", (Key("a", 0.25, 0.5, 0.25, 0.5), Key("b", 0.75, 0.5, 0.25, 0.5)), aspect=0.5)
LETTERS = frozenset("ab")


def _swipe(**change: object) -> Swipe:
    gesture = Gesture(np.linspace(0.25, 0.75, 6), np.full(6, 0.5), np.arange(6) * 20)
    return replace(Swipe("ab", gesture, "two"), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("swipe", "reason"),
    [
        (_swipe(), None),
        (_swipe(gesture=Gesture([0.1] * 4, [0.1, 0.2, 0.3, 0.4], [0, 20, 40, 60])), "too few points"),
        (_swipe(gesture=Gesture([0.1] * 5, [0.1] * 5, range(0, 100, 20))), "does not move"),
        (_swipe(gesture=Gesture([0.1, 0.2, 0.3, 0.4, 1.4], [0.1] * 5, range(0, 100, 20))), "out of bounds"),
        (_swipe(gesture=Gesture([0.1, 0.2, 0.3, 0.4, 0.5], [-0.4] * 5, range(0, 100, 20))), "out of bounds"),
        (_swipe(gesture=Gesture([0.1, 0.2, 0.3, 0.4, 1.3], [-0.3] * 5, range(0, 100, 20))), None),
        (_swipe(gesture=Gesture([0.1, 0.2, 0.3, 0.4, 0.5], [0.1] * 5, [0, 1, 2, 3, 39])), "implausible duration"),
        (_swipe(gesture=Gesture([0.1, 0.2, 0.3, 0.4, 0.5], [0.1] * 5, [0, 1, 2, 3, 10_001])), "implausible duration"),
        (_swipe(word="abc"), "not typeable"),
        (_swipe(word="--"), "not typeable"),
        (_swipe(word="a"), "too few letters"),
        (_swipe(word="A-b", sentence="an a-b road"), None),
        (_swipe(word="ab", sentence="to_a'b_it"), None),
        (_swipe(sentence="abc"), "word not in its sentence"),
    ],
)
def test_every_filter_by_hand(swipe: Swipe, reason: str | None) -> None:
    assert invalid_reason(swipe, Validity(), LETTERS) == reason


def _distance(word: str, gesture: Gesture, layout: Layout = TWO, aspect: float | None = None) -> KeyDistance:
    distance = key_distance(word, gesture, layout, aspect)
    assert distance is not None
    return distance


def test_a_distance_by_hand() -> None:
    # The path starts on a and ends a quarter of the width above b: 0.25 / 0.5 of a key width.
    gesture = Gesture([0.25, 0.5, 0.75], [0.5, 0.25, 0.0], [0, 10, 20])
    distance = _distance("ab", gesture)
    assert (distance.max, distance.mean) == pytest.approx((0.5, 0.25))
    # Twice as high, so the point at (.5, .25) is as near to b as the last one would be: sqrt(.25^2 + .25^2) < .5.
    assert _distance("ab", gesture, aspect=1.0).max == pytest.approx(np.hypot(0.25, 0.25) / 0.5)


def test_order_counts_and_of_two_keys_the_nearer() -> None:
    forwards = Gesture([0.25, 0.75], [0.5, 0.5], [0, 10])
    for word, distance in (("ab", 0), ("aabb", 0), ("ba", 1)):
        assert _distance(word, forwards).max == pytest.approx(distance)
    assert key_distance("xyz", forwards, TWO) is None
    layout = Layout("aba", (*TWO.keys, Key("a", 0.9, 0.5, 0.25, 0.5)), aspect=0.5)
    assert _distance("ab", Gesture([0.9, 0.75], [0.5, 0.5], [0, 10]), layout).max == pytest.approx(0)


def _match_by_enumeration(costs: np.ndarray) -> float:
    rows, columns = costs.shape
    return min(
        sum(costs[row, column] for row, column in enumerate(choice))
        for choice in combinations_with_replacement(range(columns), rows)
    )


def test_the_match_is_the_best_of_all() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (1, 6), (4, 1), (3, 5), (5, 7)):
        for _ in range(10):
            costs = rng.integers(0, 6, (rows, columns)).astype(float)  # integers make ties
            assert match_in_order(costs).sum() == _match_by_enumeration(costs)


def test_filters_count_what_they_drop(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_text(json.dumps(TWO.to_dict()))
    shelf = LayoutShelf(tmp_path)
    swipes = [_swipe(), _swipe(word="ba"), _swipe(word="x"), _swipe(key_distance=0.6), _swipe(key_distance=0.4)]
    dropped: Counter[str] = Counter()
    kept = list(keep_valid(swipes, dropped, shelf, validity=Validity(), max_key_distance=0.5))
    assert [swipe.key_distance for swipe in kept] == [0.0, 0.4]
    assert dropped == {"does not follow its keys": 2, "not typeable": 1}
    assert list(keep_valid(swipes, dropped, LayoutShelf())) == swipes  # no filter, so no layout is needed
    assert [swipe.key_distance for swipe in with_distances(swipes, shelf)] == [0.0, 1.0, None, 0.6, 0.4]


def test_distances_of_our_files(data: Path) -> None:
    # How We Swipe's own key centres lie on a grid of tenths; its files were measured on it.
    grid = Layout.from_rows("grid", ["qwertyuiop", "asdfghjkl", "zxcvbnm"], stagger=[0, 0.5, 1.5])
    qwerty = Layout.from_json(data / "layouts" / "qwerty.json")
    swipes = list(read_swipes(data / "swipes" / "how_we_swipe_val.jsonl.gz", limit=200))
    for layout, tolerance in ((grid, 0.001), (qwerty, 0.006)):  # qwerty's centres are 0.0047 key widths off
        again = [measured(swipe, layout) for swipe in swipes]
        for name in ("key_distance", "key_distance_mean"):
            errors = [abs(getattr(new, name) - getattr(old, name)) for new, old in zip(again, swipes, strict=True)]
            assert np.mean(np.array(errors) <= tolerance + 1e-9) > 0.99
