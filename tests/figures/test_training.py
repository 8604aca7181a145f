import json

import pytest

pytest.importorskip("matplotlib")

from glissando.errors import TrainingError
from glissando.figures import training as module
from glissando.figures.training import draw_training, measured, read_metrics, series

LINES = [
    {"step": 10, "seconds": 1.0, "loss": 3.0, "swipes_per_second": 9.0},
    {"step": 20, "seconds": 2.0, "loss": 2.0, "swipes_per_second": 9.0, "val_greedy": 40.0, "val_seconds": 1.0},
    {"step": 30, "seconds": 3.0, "loss": float("nan"), "note": "text", "flag": True},
]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_folder_or_its_file_without_a_line_cut_off_at_the_end(tmp_path):
    text = "".join(json.dumps(line) + "\n" for line in LINES[:2])
    file = write(tmp_path / "metrics.jsonl", text + '{"step": 20, "lo')
    assert read_metrics(tmp_path) == read_metrics(file) == LINES[:2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"st\n{"step": 1}\n', r"m.jsonl:1: not JSON"),
        ('{"loss": 1}\n', r"m.jsonl:1: a line of metrics is an object with a step"),
        ("[1]\n", r"m.jsonl:1: a line"),
        ("", r"m.jsonl has no metrics"),
    ],
)
def test_what_is_no_metrics_is_named(tmp_path, text, message):
    with pytest.raises(TrainingError, match=message):
        read_metrics(write(tmp_path / "m.jsonl", text))
    with pytest.raises(TrainingError, match=r"cannot read metrics .*metrics.jsonl: No such file"):
        read_metrics(tmp_path)


def test_measures_are_those_that_were_measured():
    assert measured({"run": LINES}) == ["loss", "val_greedy"]
    assert series(LINES, "loss") == ([10, 20], [3.0, 2.0])
    assert series(LINES, "val_greedy") == ([20], [40.0])
    with pytest.raises(TrainingError, match="no measure"):
        measured({"run": [{"step": 1}]})


def test_a_panel_per_measure_and_a_line_per_run(monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(module, "save", lambda made, *rest: figures.append(made) or [])
    draw_training({"one": LINES, "two": LINES[:1]}, tmp_path / "x")
    (made,) = figures
    assert [axes.get_title() for axes in made.axes] == ["loss", "val greedy"]
    assert [len(axes.lines) for axes in made.axes] == [2, 2]
    assert [text.get_text() for text in made.legends[0].get_texts()] == ["one", "two"]
