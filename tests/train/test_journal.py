import json
import time

import pytest
import torch

from glissando.errors import TrainingError
from glissando.train.journal import Clock, Journal
from glissando.train.world import World

ALONE = World(torch.device("cpu"))
NAMES = ("loss", "ctc")


def note(journal: Journal, *losses: float) -> None:
    for loss in losses:
        journal.note([torch.tensor(loss), torch.tensor(2.0)])


def test_measures_are_averaged_since_the_last_reading_and_a_broken_step_is_named(tmp_path):
    journal = Journal(tmp_path / "metrics.jsonl", ALONE, room=3, names=NAMES)
    note(journal, 1.0, 2.0)
    assert not journal.full
    note(journal, 6.0)
    assert journal.full
    line = journal.read(3, 10)
    assert (line["loss"], line["ctc"]) == (3.0, 2.0)
    assert line["swipes_per_second"] > 0
    note(journal, 5.0)
    assert journal.read(4, 10)["loss"] == 5.0
    note(journal, 1.0, float("nan"), float("inf"))
    with pytest.raises(TrainingError, match="broke at step 12: loss nan, ctc 2"):
        journal.read(13, 10)


def test_rewinding_drops_later_and_broken_lines(tmp_path):
    seen = []
    journal = Journal(tmp_path / "metrics.jsonl", ALONE, room=5, names=NAMES, report=seen.append)
    for step in (5, 10, 15):
        journal.write({"step": step, "loss": 1 / 3})
    with journal.path.open("a") as file:
        file.write('{"step": 2')
    journal.rewind(10)
    lines = [json.loads(line) for line in journal.path.read_text().splitlines()]
    assert [line["step"] for line in lines] == [5, 10]
    assert seen[0] == {"step": 5, "loss": 0.333333}


def test_progress_is_by_steps_or_by_time_whichever_is_further(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    assert Clock(10, 0, ALONE).progress(4) == 0.4
    clock = Clock(10, 50, ALONE)
    now[0] = 110.0
    clock.count_set_up(10.0)  # compiling: 40 of 50 seconds are left
    assert clock.progress(1) == 0.1
    now[0] = 130.0
    assert clock.progress(1) == 0.5
    assert clock.progress(9) == 0.9
    now[0] = 200.0
    assert clock.progress(1) == 1.0
    resumed = Clock(10, 50, ALONE, spent=30.0, set_up=10.0)
    assert resumed.progress(1) == 0.5
