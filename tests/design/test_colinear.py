import numpy as np
import pytest

from glissando.design.colinear import clearance, colinear_trigrams, key_sequence
from glissando.design.words import RunningText
from glissando.layout import Key, Layout, load_layout
from glissando.lexicon import Lexicon

# Square keys in a 3 x 3 grid: what is in line can be seen.
GRID = Layout.from_rows("grid", ["abc", "def", "ghi"], aspect=1.0)


def text(*words):
    return RunningText.of(Lexicon("test", "", words, np.full(len(words), 100, dtype=np.uint8)), [GRID], 99)


def test_distance_from_a_segment():
    a, b = np.array([0.0, 0.0]), np.array([2.0, 0.0])
    points = np.array([[1.0, 0.5], [1.5, 0.0], [3.0, 0.0], [-3.0, 4.0]])
    assert clearance(a, points, b).tolist() == [0.5, 0.0, 1.0, 5.0]
    assert clearance(a, points[:1], a).tolist() == [pytest.approx(1.25**0.5)]


@pytest.mark.parametrize(
    ("word", "hidden"),
    [
        ("abc", True),  # b lies between
        ("aei", True),  # along the diagonal
        ("acb", False),  # c is the turning point
        ("aba", False),  # there and back
        ("abe", False),  # a corner
        ("abbc", True),  # a doubled letter counts once
        ("aabc", True),
        ("ab", False),
        ("a", False),
    ],
)
def test_by_hand(word, hidden):
    assert (colinear_trigrams(GRID, text(word)).word_share == 1.0) == hidden


def test_counts_weigh_running_text():
    found = colinear_trigrams(GRID, text("abc", "abe", "abeb"))
    assert (found.distinct, found.colinear) == (3, 1)  # abc, abe, beb
    assert found.trigram_share == pytest.approx(1 / 4)
    assert found.word_share == pytest.approx(1 / 3)
    (worst,) = found.worst
    assert (worst.letters, worst.clearance, worst.share) == ("abc", 0.0, pytest.approx(1 / 4))


def test_the_most_frequent_come_first_and_no_more_than_asked():
    words = Lexicon("test", "", ("abc", "aei", "cei"), np.array([50, 200, 10], dtype=np.uint8))
    found = colinear_trigrams(GRID, RunningText.of(words, [GRID], 9), worst=2)
    assert [one.letters for one in found.worst] == ["aei", "abc"]
    assert found.colinear == 2


def test_keys_are_measured_in_their_width_at_the_true_aspect():
    flat = Layout("flat", (Key("a", 0.25, 0.25, 0.25, 0.25), Key("b", 0.75, 0.75, 0.25, 0.25)), aspect=0.5)
    letters, points = key_sequence("abb", flat)
    assert letters == "ab"
    assert (points[1] - points[0]).tolist() == [1.0, 0.5]


def test_the_reports_example():
    """On QWERTY the r of stream lies between t and e; on ClearFlow s-t-e and e-a-m are in line."""
    qwerty, clearflow = load_layout("qwerty"), load_layout("clearflow")

    def hidden(word, layout):
        letters, points = key_sequence(word, layout)
        far = clearance(points[:-2], points[1:-1], points[2:])
        return {letters[i + 1] for i in np.flatnonzero(far < 0.35)}

    assert hidden("stream", qwerty) == {"r"}
    assert {"t", "a"} <= hidden("steam", clearflow)
