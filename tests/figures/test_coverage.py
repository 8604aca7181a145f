"""The curve of abstaining: what it draws, and the numbers it tells."""

from types import SimpleNamespace

import pytest

pytest.importorskip("matplotlib")

from command import lines, row

from glissando.errors import CorpusError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.metrics import Outcome, coverage
from glissando.figures.coverage import Curve, draw_coverage, measure_coverage

OPTIONS = EvaluationOptions(lexicon={"hello": 9, "world": 8})


def curve(*pairs):
    """A curve of (probability, right)."""
    outcomes = [Outcome("a", ("a",) if right else ("b",), probability=sure) for sure, right in pairs]
    return Curve(len(outcomes), coverage(outcomes))


def test_the_numbers_of_a_table():
    told = curve((0.9, True), (0.8, True), (0.3, False)).to_dict()
    assert (told["n"], told["answered"], told["accuracy"]) == (3, 100, pytest.approx(200 / 3))
    assert told["at"]["95"] == {"answered": pytest.approx(200 / 3), "threshold": 0.8}
    assert curve((0.9, False)).to_dict()["at"]["99"] is None


def test_a_curve_ends_where_all_is_answered():
    drawn = draw_coverage({"one": curve((0.9, True), (0.4, False)), "two": curve((0.6, True))})
    lines_ = [line for line in drawn.axes[0].lines if line.get_label() in ("one", "two")]
    assert [line.get_xdata()[-1] for line in lines_] == [100, 100]
    assert [line.get_ydata()[-1] for line in lines_] == [50, 100]
    assert [text.get_text() for text in drawn.axes[0].get_legend().get_texts()][:2] == ["one", "two"]


def test_files_and_methods_have_curves_of_their_own(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "s.jsonl").write_bytes(lines([row("hello"), row("world")]))
    files = [tmp_path / folder / "s.jsonl" for folder in ("a", "b")]
    assert list(measure_coverage(files, ["shark2"], OPTIONS)) == [str(file) for file in files]
    assert list(measure_coverage(files[:1], ["shark2", "shark2"], OPTIONS)) == ["s"]


def test_nothing_found_is_an_error(tmp_path, monkeypatch):
    found = SimpleNamespace(outcomes={"qwerty": [Outcome("a", ())]})
    monkeypatch.setattr("glissando.figures.coverage.evaluate", lambda *_: found)
    with pytest.raises(CorpusError, match=r"s\.jsonl: no swipe has a candidate"):
        measure_coverage([tmp_path / "s.jsonl"], ["auto"], OPTIONS)
