import json
import subprocess
import sys

import numpy as np
import pytest
from design.fakes import lexicon

from glissando.design.report import (
    ReportOptions,
    confused_pairs,
    letter_confidences,
    measure_confusion,
    report,
)
from glissando.design.words import RunningText
from glissando.errors import LayoutError, LexiconError
from glissando.keyboard import Keyboard
from glissando.layout import Layout, load_layout
from glissando.loading import load
from glissando.scoring import Scoring
from glissando.synth import swipe

QUICK = ReportOptions(language="en", count=40, worst=3)
THREE = [load_layout(name) for name in ("qwerty", "clearflow", "kasroz")]
QWERTY = THREE[0]


@pytest.fixture(scope="module")
def keyboard():
    return load("qwerty", lexicon={"hello": 1, "stream": 1})


def test_three_layouts_by_the_same_words():
    done = []
    result = report(THREE, ["stream", "steam"], QUICK, lambda *progress: done.append(progress))
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert [one.layout.name for one in result.layouts] == ["qwerty", "clearflow", "kasroz"]
    assert result.count == 40
    assert 0 < result.coverage < 1
    for one in result.layouts:
        assert "".join(letter.letter for letter in one.letters["stream"]) == "stream"
        assert len(one.confusion.pairs) == 3
        assert len(one.colinear.worst) <= 3
    assert len({one.colinear.distinct for one in result.layouts}) == 1  # the words decide, not the keys
    assert json.loads(json.dumps(result.to_dict()))["layouts"][0]["layout"] == "qwerty"


def test_the_end_of_a_word_is_surer_than_a_letter_on_a_straight_line(keyboard):
    """The report's point, in the one form that holds for any encoder that reads swipes at all."""
    letters = letter_confidences(keyboard, "stream")
    frames = [letter.frame for letter in letters]
    assert frames == sorted(set(frames))
    confidence = {letter.letter: letter.confidence for letter in letters}
    assert 0 < confidence["r"] < confidence["s"] <= 1


def test_both_directions_of_a_pair_are_weighed_by_their_words():
    shares = np.array([0.5, 0.3, 0.2])
    mistaken = {(0, 1): 0.1, (1, 0): 0.2, (2, 0): 0.05}
    first, second = confused_pairs(("aa", "bb", "cc"), shares, mistaken, 9)
    assert (first.words, first.mistaken) == (("aa", "bb"), (0.1, 0.2))
    assert first.per_10000 == pytest.approx(10_000 * (0.5 * 0.1 + 0.3 * 0.2))
    assert (second.words, second.mistaken) == (("aa", "cc"), (0.0, 0.05))
    assert confused_pairs(("aa", "bb", "cc"), shares, mistaken, 1) == (first,)


def test_words_along_one_line_are_confused_and_taps_are_left_out(keyboard):
    def confusion(*words):
        text = RunningText.choose(lexicon(*words), [QWERTY], 99)
        board = Keyboard(QWERTY, text.lexicon, keyboard.encoder, Scoring())
        return measure_confusion(board, text, [swipe(word, QWERTY) for word in text.lexicon.words])

    four = confusion("pit", "put", "mango", "quiz")
    assert four.pairs[0].words == ("pit", "put")
    assert four.per_10000 == pytest.approx(sum(pair.per_10000 for pair in four.pairs))
    lone = confusion("hello")
    assert (lone.per_10000, lone.pairs) == (0.0, ())
    assert lone.cost > 0
    assert all("as" in pair.words for pair in confusion("a", "s", "as").pairs)


@pytest.mark.parametrize(
    ("layouts", "words", "error", "message"),
    [
        ([], ["a"], LayoutError, "a report needs at least one layout"),
        ([QWERTY, QWERTY], ["a"], LayoutError, "2 of the layouts are called 'qwerty'"),
        (THREE, [], LexiconError, "at least one word"),
        (THREE, ["naïve", "привет"], LayoutError, "layout 'qwerty' has no key for 'п' of 'привет'"),
        ([Layout.from_rows("ab", ["ab"])], ["cab"], LayoutError, "layout 'ab' has no key for 'c' of 'cab'"),
    ],
)
def test_what_cannot_be_reported_on_is_refused_first(layouts, words, error, message):
    with pytest.raises(error, match=message):
        report(layouts, words, QUICK)


def test_it_needs_no_torch():
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from glissando.design.archive import Front\n"
        "from glissando.design.report import report, ReportOptions\n"
        "from glissando.layout import load_layout\n"
        "print(len(report([load_layout('jcuken')], ['привет'], ReportOptions(count=20)).layouts[0].letters['привет']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "6\n", done.stderr
