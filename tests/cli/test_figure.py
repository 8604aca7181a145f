import json

import pytest
from command import refused, row, run

pytest.importorskip("matplotlib")


@pytest.fixture
def swipes(corpus):
    return corpus([row("hello"), row("quiz") | {"word": "mango"}])


@pytest.fixture
def words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("hello 5\nquiz 5\nmango 5\n")
    return file


def saved(folder, name):
    return {file.suffix for file in folder.glob(f"{name}.*")} == {".png", ".svg"}


def test_field(tmp_path, swipes):
    result = run(
        "figure", "field", "qwerty:hello", "dvorak:hi", "--swipes", swipes, "--out", tmp_path / "new" / "f.png"
    )
    assert result.code == 0, result
    assert saved(tmp_path / "new", "f")


def test_augment(tmp_path):
    pytest.importorskip("torch")
    assert run("figure", "augment", "--count", 2, "--rearranged", 1, "--out", tmp_path / "a").code == 0
    assert saved(tmp_path, "a")


def test_training(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "metrics.jsonl").write_text('{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2.0}\n')
    assert run("figure", "training", tmp_path / "one", "--out", tmp_path / "t").code == 0
    assert saved(tmp_path, "t")


def test_errors_are_drawn_and_counted(tmp_path, swipes, words):
    result = run("figure", "errors", swipes, "--lexicon", words, "--out", tmp_path / "e")
    assert "1 mistakes in 2 swipes" in result.out
    assert "label noise" in result.out
    assert saved(tmp_path, "e")
    (one,) = json.loads(run("figure", "errors", swipes, "--lexicon", words, "--out", tmp_path / "e", "--json").out)
    assert (one["target"], one["answer"], one["cause"]) == ("mango", "quiz", "label noise")


def test_coverage_is_drawn_and_told(tmp_path, swipes, words):
    options = ("figure", "coverage", swipes, "--lexicon", words, "--out", tmp_path / "c")
    result = run(*options)
    assert result.code == 0, result
    assert saved(tmp_path, "c")
    assert "swipes" in result.out
    both = json.loads(run(*options, "--method", "encoder", "--method", "shark2", "--json").out)
    assert list(both) == ["swipes, encoder", "swipes, shark2"]
    for one in both.values():
        assert (one["n"], one["answered"], one["accuracy"]) == (2, 100, 50)
        assert one["at"]["95"] is None or one["at"]["95"]["answered"] == 50
    assert "no method 'magic'" in refused(*options, "--method", "magic")


def test_bad_input(tmp_path, corpus):
    assert "LAYOUT:WORD" in refused("figure", "field", "hello")
    assert "no layout 'qwertx'" in refused("figure", "augment", "qwertx:hi")
    assert "cannot read metrics" in refused("figure", "training", tmp_path / "none")
    assert "nothing to draw" in refused("figure", "errors", corpus([row("hello")]), "--out", tmp_path / "e")
    assert "none.jsonl" in refused("figure", "errors", tmp_path / "none.jsonl")
