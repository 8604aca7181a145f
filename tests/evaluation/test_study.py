import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from glissando.errors import ScoringError
from glissando.evaluation import study
from glissando.evaluation.ledger import Ledger, Point
from glissando.evaluation.study import EXTRA, Plan, Range, _remembered, maximise, schedule

BOX = {"a": Range(-1.0, 1.0), "b": Range(0.0, 4.0)}
START = {"a": 0.0, "b": 0.0}

# A process of its own that works on a study; it says how many trials it evaluated.
WORKER = """
import sys, time
from glissando.evaluation.study import Plan, Range, maximise
url, trials, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
evaluated = 0
def hill(c):
    global evaluated
    evaluated += 1
    time.sleep(pause)
    return -(c["a"] - 0.3) ** 2 - (c["b"] - 1) ** 2
plan = Plan({"a": Range(-1.0, 1.0), "b": Range(0.0, 4.0)}, trials, 0, url, "together", 4)
print("ready", flush=True)
found = maximise(hill, plan, {"a": 0.0, "b": 0.0})
print(evaluated, found.best["a"], found.best["b"])
"""


def hill(choice):
    return -((choice["a"] - 0.3) ** 2) - (choice["b"] - 1) ** 2


def points(*values, name="a"):
    return [Point({name: float(value)}, -abs(value - 3.0)) for value in values]


def start_worker(url, trials, pause=0.05):
    command = [sys.executable, "-c", WORKER, url, str(trials), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_top_of_a_hill_is_found():
    found = maximise(hill, Plan(BOX, 120, batch=20), START)
    assert found.best["a"] == pytest.approx(0.3, abs=0.1)
    assert found.best["b"] == pytest.approx(1.0, abs=0.3)
    assert found.value == hill(found.best)
    assert len(found.history) == 120
    assert not found.widened


def test_the_search_begins_at_the_start():
    found = maximise(hill, Plan(BOX, 8), {"a": 0.3, "b": 1.0})
    assert found.history[0] == Point({"a": 0.3, "b": 1.0}, 0.0)
    assert found.best == {"a": 0.3, "b": 1.0}


def test_a_start_outside_the_space_is_left_out():
    assert all(-1 <= point.constants["a"] <= 1 for point in maximise(hill, Plan(BOX, 8), {"a": 7.0, "b": 1.0}).history)


def test_a_seed_repeats_a_search():
    plans = [Plan(BOX, 40, seed, batch=20) for seed in (1, 1, 2)]
    first, again, other = (maximise(hill, plan, START).history for plan in plans)
    assert first == again
    assert first != other


def test_the_estimator_still_learns_beyond_what_it_remembers(monkeypatch):
    # 200 trials exceed the 100 it looks at; the last fifty must do better than the first, which are random.
    monkeypatch.setattr(study, "REMEMBERED_BEST", 30)
    monkeypatch.setattr(study, "REMEMBERED_OTHERS", 70)
    found = maximise(hill, Plan(BOX, 200, batch=50), START)
    late = np.mean([point.value for point in found.history[-50:]])
    random = np.mean([point.value for point in found.history[1:50]])
    assert late > random / 2  # both are negative


def test_the_best_are_remembered_all_and_the_others_in_part():
    history = [Point({"a": i / 1000}, float(-i)) for i in range(1000)]
    kept = _remembered(history, np.random.default_rng(0))
    assert len(kept) == 500
    assert kept[:50] == history[:50]
    assert kept == sorted(kept, key=history.index)
    assert np.mean([point.value for point in kept[50:]]) == pytest.approx(-525, abs=40)


def test_a_range_widens_on_the_side_of_the_optimum():
    assert Range(0, 10).widened(0.1) == Range(-10, 10)
    assert Range(0, 10).widened(9.9) == Range(0, 20)
    assert Range(0, 10).widened(0.3) == Range(0, 10)
    assert Range(0, 10).widened(25.0) == Range(0, 20)


def test_a_range_does_not_widen_beyond_sense():
    assert Range(0, 10, lowest=0, highest=15).widened(0.0) == Range(0, 10, lowest=0, highest=15)
    assert Range(0, 10, lowest=0, highest=15).widened(10.0).high == 15


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, float("inf")), (float("nan"), 1)])
def test_a_range_needs_two_ends(low, high):
    with pytest.raises(ScoringError, match="two ends"):
        Range(low, high)


def test_the_schedule_widens_when_the_trials_are_made_and_not_before():
    plan = Plan({"a": Range(0.0, 1.0)}, 4)
    at_edge = points(0.2, 0.5, 0.995, 0.7)  # the top is at 3
    assert schedule(plan, at_edge[:3]).space["a"] == Range(0.0, 1.0)
    now = schedule(plan, at_edge)
    assert now.space["a"] == Range(0.0, 2.0)
    assert now.goal == 4 + 4 // EXTRA
    assert now.widened == ("a: the best of 4 trials, 0.995, lies at the edge of 0 to 1; widened to 0 to 2",)


def test_the_schedule_stops_widening_once_the_best_lies_inside():
    plan = Plan({"a": Range(0.0, 1.0)}, 4)
    now = schedule(plan, [*points(0.2, 0.5, 0.995, 0.7), *points(1.5, 1.2)])
    assert now.space["a"] == Range(0.0, 2.0)
    assert now.goal == 6


def test_an_optimum_beyond_the_edge_is_found_and_reported():
    found = maximise(lambda c: -abs(c["a"] - 1.5), Plan({"a": Range(0.0, 1.0)}, 60, batch=5), {"a": 0.5})
    assert found.best["a"] == pytest.approx(1.5, abs=0.1)
    assert found.space["a"] == Range(0.0, 2.0)
    assert len(found.widened) == 1
    assert len(found.history) == 60 + 60 // EXTRA


def test_a_slope_without_a_top_ends():
    found = maximise(lambda c: c["a"], Plan({"a": Range(0.0, 1.0)}, 8), {"a": 0.5})
    assert len(found.widened) <= 8
    assert found.history


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_two_processes_share_a_study(tmp_path, kind):
    url = f"{kind}:///{tmp_path}/study"
    workers = [start_worker(url, 40) for _ in range(2)]
    answers = [worker.communicate(timeout=60) for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], answers
    evaluated, a, b = zip(*(out.split("\n")[1].split() for out, _ in answers), strict=True)
    assert a[0] == a[1]
    assert b[0] == b[1]
    assert 40 <= len(Ledger(url, "together").points()) <= 41
    assert all(0 < int(count) < 40 for count in evaluated), "one of them did all the work"
    # Neither repeated the other.
    tried = [tuple(point.constants.values()) for point in Ledger(url, "together").points()]
    assert len(set(tried)) == len(tried)


def test_a_killed_worker_loses_no_finished_batch_and_the_next_goes_on(tmp_path):
    url = f"sqlite:///{tmp_path}/study"
    worker = start_worker(url, 40, 0.03)
    worker.stdout.readline()
    while len(Ledger(url, "together").points()) < 8:
        assert worker.poll() is None
        time.sleep(0.05)
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    before = Ledger(url, "together").points()
    assert 8 <= len(before) < 40
    found = maximise(hill, Plan(BOX, 40, 0, url, "together", 4), START)
    assert found.resumed == len(before)
    assert list(found.history[: len(before)]) == before
    assert len(found.history) == 40


def test_an_interruption_keeps_the_trials_of_its_batch(tmp_path):
    url = f"sqlite:///{tmp_path}/study"
    made = []

    def interrupted(choice):
        if len(made) == 7:
            raise KeyboardInterrupt
        made.append(choice)
        return hill(choice)

    plan = Plan(BOX, 40, 0, url, "stopped", 5)
    with pytest.raises(KeyboardInterrupt):
        maximise(interrupted, plan, START)
    assert [point.constants for point in Ledger(url, "stopped").points()] == made
    assert maximise(hill, plan, START).resumed == 7


def test_a_finished_study_is_read_and_not_searched_again(tmp_path):
    plan = Plan(BOX, 12, 0, f"journal:///{tmp_path}/study", "done", 4)
    first = maximise(hill, plan, START)
    again = maximise(lambda _: pytest.fail("a trial too many"), plan, START)
    assert again.best == first.best
    assert again.resumed == 12


def test_more_trials_extend_a_study(tmp_path):
    url = f"journal:///{tmp_path}/study"
    first = maximise(hill, Plan(BOX, 12, 0, url, "more", 4), START)
    more = maximise(hill, Plan(BOX, 20, 0, url, "more", 4), START)
    assert more.history[:12] == first.history
    assert len(more.history) == 20


def test_progress_counts_up_to_the_goal():
    seen = []
    maximise(hill, Plan(BOX, 10, batch=4), START, lambda done, total: seen.append((done, total)))
    assert seen == [(0, 10), (4, 10), (8, 10), (10, 10)]


def test_a_plan_needs_something_to_do():
    with pytest.raises(ScoringError, match="no constant"):
        Plan({}, 10)
    with pytest.raises(ScoringError, match="trials"):
        Plan(BOX, 0)
