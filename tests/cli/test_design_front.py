"""``glissando design front``."""

import json

import pytest
from command import refused, run

from glissando.layout import load_layout


@pytest.fixture
def folder(tmp_path):
    """A search's directory with two layouts on its front."""
    front = [
        {"clarity": clarity, "travel": travel, "layout": load_layout(name).to_dict()}
        for name, clarity, travel in (("kasroz", 2.0, 0.9), ("clearflow", 3.0, 0.7))
    ]
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


def test_words_show_letter_by_letter(folder, tiny_weights):
    words = ("--word", "at", "--word", "steam", "--weights", tiny_weights)
    data = json.loads(run("design", "front", folder, *words, "--json").out)
    assert [len(data[0]["words"][word]) for word in ("at", "steam")] == [2, 5]
    shown = run("design", "front", folder, *words)
    assert shown.code == 0, shown
    assert "steam" in shown.out
    assert (folder / "front.png").stat().st_size > 0


def test_a_layout_is_taken(folder, tmp_path):
    result = run("design", "front", folder, "--take", 2, "--out", tmp_path / "mine.json")
    assert result.code == 0, result
    assert load_layout(tmp_path / "mine.json").letters == load_layout("kasroz").letters
    assert "cannot write" in refused("design", "front", folder, "--take", 2, "--out", tmp_path / "none" / "mine.json")
    assert "2 layouts, no number 3" in refused("design", "front", folder, "--take", 3)


def test_bad_input(folder, tmp_path, tiny_weights):
    assert "no key for 'п'" in refused("design", "front", folder, "--word", "привет", "--weights", tiny_weights)
    assert "no front" in refused("design", "front", tmp_path / "none")
