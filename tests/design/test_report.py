import json
import subprocess
import sys

import numpy as np
import pytest

from glissando.design.report import ReportOptions, letter_confidences, report
from glissando.errors import LayoutError, LexiconError
from glissando.keyboard import load
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon

QUICK = ReportOptions(language="en", count=60, worst=3)
THREE = [load_layout(name) for name in ("qwerty", "clearflow", "kasroz")]


def test_three_layouts_by_the_same_words():
    done = []
    found = report(THREE, ["stream", "steam"], QUICK, lambda *progress: done.append(progress))
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert [one.layout.name for one in found.layouts] == ["qwerty", "clearflow", "kasroz"]
    assert found.count == 60
    assert 0 < found.coverage < 1
    for one in found.layouts:
        assert "".join(letter.letter for letter in one.letters["stream"]) == "stream"
        assert len(one.confusion.pairs) == 3
        assert len(one.colinear.worst) <= 3
    assert len({one.colinear.distinct for one in found.layouts}) == 1  # the words decide, not the keys
    assert json.loads(json.dumps(found.to_dict()))["layouts"][0]["layout"] == "qwerty"


def test_one_layout_is_enough():
    (one,) = report([load_layout("jcuken")], ["привет"], ReportOptions(count=30)).layouts
    assert len(one.letters["привет"]) == 6


def test_confidence_is_the_probability_at_the_aligned_frame():
    keyboard = load("qwerty", lexicon={"hello": 1})
    letters = letter_confidences(keyboard, "hello")
    frames = [letter.frame for letter in letters]
    assert frames == sorted(set(frames))
    assert all(0 < letter.confidence <= 1 for letter in letters)
    assert np.mean([letter.confidence for letter in letters if letter.letter in "ho"]) > 0.5  # the ends are plain


def test_the_end_of_a_word_is_surer_than_a_letter_on_a_straight_line():
    """The report's point, in the one form that holds for any encoder that reads swipes at all."""
    letters = letter_confidences(load("qwerty", lexicon={"stream": 1}), "stream")
    by_letter = {letter.letter: letter.confidence for letter in letters}
    assert by_letter["r"] < by_letter["s"]


@pytest.mark.parametrize(
    ("layouts", "words", "error", "message"),
    [
        ([], ["a"], LayoutError, "a report needs at least one layout"),
        ([THREE[0], THREE[0]], ["a"], LayoutError, "2 of the layouts are called 'qwerty'"),
        (THREE, [], LexiconError, "at least one word"),
        (THREE, ["naïve", "привет"], LayoutError, "layout 'qwerty' has no key for 'п' of 'привет'"),
        ([Layout.from_rows("ab", ["ab"])], ["cab"], LayoutError, "layout 'ab' has no key for 'c' of 'cab'"),
    ],
)
def test_what_cannot_be_reported_on_is_refused_first(layouts, words, error, message):
    with pytest.raises(error, match=message):
        report(layouts, words, QUICK)


def test_a_list_that_no_layout_can_type():
    with pytest.raises(LexiconError, match="no word that can be typed on each of: qwerty"):
        report([THREE[0]], ["a"], ReportOptions(lexicon=Lexicon.from_counts({"привет": 1})))


def test_it_needs_no_torch():
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from glissando.design.report import report, ReportOptions\n"
        "from glissando.layout import load_layout\n"
        "print(report([load_layout('qwerty')], ['steam'], ReportOptions(count=20)).count)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "20\n"
