import json

import pytest
from command import refused, run

BASE = ("design", "report", "--words", 40)


def test_the_tables_show_letters_measures_and_the_worst():
    result = run(*BASE, "qwerty", "--word", "stream", "--worst", 2)
    assert result.code == 0, result
    for text in ("stream: confidence in each letter", "CTC cost", "words per minute", "colinear", "63 mm wide"):
        assert text in result.out
    assert "40 words of wordfreq en" in result.out


def test_json_holds_what_the_tables_show():
    data = json.loads(run(*BASE, "qwerty", "kasroz", "--word", "steam", "--json").out)
    assert [one["layout"] for one in data["layouts"]] == ["qwerty", "kasroz"]
    one = data["layouts"][0]
    assert [letter["letter"] for letter in one["letters"]["steam"]] == list("steam")
    assert set(one["travel"]) >= {"mm", "key_widths", "words_per_minute"}
    assert data["words"] == 40


def test_pictures_go_to_a_folder(tmp_path):
    pytest.importorskip("matplotlib")
    result = run(*BASE, "qwerty", "--word", "hi", "--out", tmp_path / "new", "--json")
    names = {f"{name}.{kind}" for name in ("paths", "confidence", "layouts") for kind in ("png", "svg")}
    assert {file.name for file in (tmp_path / "new").iterdir()} == names
    assert result.err.count("saved ") == 6


def test_bad_input(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"name": "x", "keys": [')
    assert "broken.json is not JSON" in refused("design", "report", broken)
    assert "no layout 'qwertx'; built in are" in refused("design", "report", "qwertx")
    assert "no key for 'п' of 'привет'" in refused("design", "report", "qwerty", "--word", "привет")
    assert "called 'qwerty'" in refused("design", "report", "qwerty", "qwerty")
    assert "cannot read model file" in refused("design", "report", "qwerty", "--weights", tmp_path / "none.onnx")
