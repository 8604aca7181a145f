"""``glissando design report`` and ``glissando design front``."""

import json

import pytest
from command import refused, run

from glissando.layout import load_layout

REPORT = ("design", "report", "--words", 40)


def test_the_tables_show_letters_measures_and_the_worst():
    result = run(*REPORT, "qwerty", "--word", "stream", "--worst", 2)
    assert result.code == 0, result
    for text in ("stream: confidence in each letter", "CTC cost", "words per minute", "colinear", "63 mm wide"):
        assert text in result.out
    assert "40 words of wordfreq en" in result.out


def test_json_holds_what_the_tables_show_and_pictures_go_to_a_folder(tmp_path):
    pytest.importorskip("matplotlib")
    result = run(*REPORT, "qwerty", "kasroz", "--word", "steam", "--json", "--out", tmp_path / "new")
    data = json.loads(result.out)
    assert [one["layout"] for one in data["layouts"]] == ["qwerty", "kasroz"]
    one = data["layouts"][0]
    assert [letter["letter"] for letter in one["letters"]["steam"]] == list("steam")
    assert set(one["travel"]) >= {"mm", "key_widths", "words_per_minute"}
    assert data["words"] == 40
    names = {f"{name}.{kind}" for name in ("paths", "confidence", "layouts") for kind in ("png", "svg")}
    assert {file.name for file in (tmp_path / "new").iterdir()} == names
    assert result.err.count("saved ") == 6


def test_a_report_refuses_bad_input(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"name": "x", "keys": [')
    assert "broken.json is not JSON" in refused("design", "report", broken)
    assert "no layout 'qwertx'; built in are" in refused("design", "report", "qwertx")
    assert "no key for 'п' of 'привет'" in refused("design", "report", "qwerty", "--word", "привет")
    assert "called 'qwerty'" in refused("design", "report", "qwerty", "qwerty")
    assert "cannot read model file" in refused("design", "report", "qwerty", "--weights", tmp_path / "none.onnx")


@pytest.fixture
def folder(tmp_path):
    """A search's directory with two layouts on its front."""
    points = (("kasroz", 2.0, 0.9), ("clearflow", 3.0, 0.7))
    front = [{"clarity": c, "travel": t, "layout": load_layout(name).to_dict()} for name, c, t in points]
    costs = {"clarity": 2.0, "travel": 0.9}
    (tmp_path / "front.json").write_text(json.dumps(front))
    (tmp_path / "search.json").write_text(json.dumps({"config": {"dial": 1.0}, "peers": {"qwerty": costs}, **costs}))
    return tmp_path


def test_the_cheapest_is_listed_first_and_numbers_count_from_the_quickest(folder):
    data = json.loads(run("design", "front", folder, "--json").out)
    assert [(one["number"], one["layout"]) for one in data] == [(2, "kasroz"), (1, "clearflow")]
    assert data[0]["cost"] == pytest.approx(2.9)
    steep = json.loads(run("design", "front", folder, "--travel", 16, "--json").out)
    assert [one["number"] for one in steep] == [1, 2]


def test_a_front_shows_words_letter_by_letter(folder, tiny_weights):
    words = ("--word", "at", "--word", "steam", "--weights", tiny_weights)
    data = json.loads(run("design", "front", folder, *words, "--json").out)
    assert [len(data[0]["words"][word]) for word in ("at", "steam")] == [2, 5]
    assert "steam" in run("design", "front", folder, *words).out
    assert (folder / "front.png").stat().st_size > 0


def test_a_layout_is_taken_from_the_front(folder, tmp_path):
    result = run("design", "front", folder, "--take", 2, "--out", tmp_path / "mine.json")
    assert result.code == 0, result
    assert load_layout(tmp_path / "mine.json").letters == load_layout("kasroz").letters
    (tmp_path / "file").touch()
    assert "cannot write" in refused("design", "front", folder, "--take", 2, "--out", tmp_path / "file" / "mine.json")


def test_a_front_refuses_bad_input(folder, tmp_path, tiny_weights):
    assert "2 layouts, no number 3" in refused("design", "front", folder, "--take", 3)
    assert "no key for 'п'" in refused("design", "front", folder, "--word", "привет", "--weights", tiny_weights)
    assert "no front" in refused("design", "front", tmp_path / "none")
