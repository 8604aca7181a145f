import threading

import pytest

from glissando.errors import ScoringError, StorageError
from glissando.evaluation import study
from glissando.evaluation.study import EXTRA, Plan, Range, Trial, maximise, open_storage, schedule

BOX = {"a": Range(-1.0, 1.0), "b": Range(0.0, 4.0)}
START = {"a": 0.0, "b": 0.0}


def hill(choice):
    return -((choice["a"] - 0.3) ** 2) - (choice["b"] - 1) ** 2


@pytest.fixture(params=["sqlite", "journal"])
def url(request, tmp_path):
    return f"{request.param}:///{tmp_path}/study"


def test_the_top_of_a_hill_is_found():
    result = maximise(hill, Plan(BOX, 120), START)
    assert result.best["a"] == pytest.approx(0.3, abs=0.15)
    assert result.best["b"] == pytest.approx(1.0, abs=0.3)
    assert result.value == hill(result.best)
    assert len(result.history) == 120
    assert not result.widened


def test_the_search_begins_at_the_start_if_it_lies_in_the_space():
    calls = []
    start = {"a": 0.3, "b": 1.0, "other": 5.0}
    result = maximise(hill, Plan(BOX, 4), start, lambda *progress: calls.append(progress))
    assert calls == [(2, 4), (3, 4), (4, 4)]
    assert result.history[0] == Trial({"a": 0.3, "b": 1.0}, 0.0)
    assert result.best == {"a": 0.3, "b": 1.0}
    outside = maximise(hill, Plan(BOX, 8), {"a": 7.0, "b": 1.0})
    assert all(-1 <= trial.constants["a"] <= 1 for trial in outside.history)


def test_a_seed_repeats_a_search():
    first, again, other = (maximise(hill, Plan(BOX, 40, seed), START).history for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_range_widens_on_the_side_of_the_optimum_and_not_beyond_its_limits():
    assert Range(0, 10).widened(0.1) == Range(-10, 10)
    assert Range(0, 10).widened(9.9) == Range(0, 10).widened(25.0) == Range(0, 20)
    assert Range(0, 10).widened(0.3) == Range(0, 10)
    limited = Range(0, 10, lowest=0, highest=15)
    assert limited.widened(0.0) == limited
    assert limited.widened(10.0).high == 15


def test_the_schedule_widens_when_the_trials_are_made_and_until_the_best_lies_inside():
    plan = Plan({"a": Range(0.0, 1.0)}, 4)
    at_edge = [Trial({"a": a}, a) for a in (0.2, 0.5, 0.995, 0.7)]
    assert schedule(plan, at_edge[:3]).space["a"] == Range(0.0, 1.0)
    now = schedule(plan, at_edge)
    assert now.space["a"] == Range(0.0, 2.0)
    assert now.goal == 4 + 4 // EXTRA
    assert now.widened == ("a: the best of 4 trials, 0.995, lies at the edge of 0 to 1; widened to 0 to 2",)
    assert schedule(plan, [*at_edge, Trial({"a": 1.5}, 1.5), Trial({"a": 1.2}, 1.2)]) == now
    assert len(maximise(lambda c: c["a"], Plan({"a": Range(0.0, 1.0)}, 8), {"a": 0.5}).widened) <= 8  # it ends


def test_an_optimum_beyond_the_edge_is_found_and_reported():
    result = maximise(lambda c: -abs(c["a"] - 1.5), Plan({"a": Range(0.0, 1.0)}, 30), {"a": 0.5})
    assert result.best["a"] == pytest.approx(1.5, abs=0.1)
    assert result.space["a"] == Range(0.0, 2.0)
    assert len(result.widened) == 1
    assert len(result.history) == 30 + 30 // EXTRA


def test_workers_share_a_study_and_agree(url):
    """Every worker evaluates its first trial while the other one does."""
    barrier, results, evaluated = threading.Barrier(2), {}, {0: [], 1: []}

    def work(worker):
        def objective(choice):
            if len(evaluated[worker]) == 0:
                barrier.wait()
            evaluated[worker].append(tuple(choice.values()))
            return hill(choice)

        results[worker] = maximise(objective, Plan(BOX, 12, 0, url, "together"), {"a": 7.0, "b": 0.0})

    threads = [threading.Thread(target=work, args=(worker,)) for worker in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = ({tuple(trial.constants.values()) for trial in results[worker].history} for worker in (0, 1))
    count = len(results[0].history)
    assert count == len(results[1].history) >= 12  # more where the best of 12 happens to lie at an edge
    assert len(first & second) >= count - 1  # a trial stored while the other worker counted may be in one only
    assert not set(evaluated[0]) & set(evaluated[1])  # neither repeated the other


def test_a_killed_worker_leaves_a_running_trial_that_does_not_count(tmp_path):
    url = f"journal:///{tmp_path}/study"
    plan = Plan(BOX, 8, 0, url)
    maximise(hill, plan, START)
    study._open_study(plan).ask()
    result = maximise(hill, Plan(BOX, 12, 0, url), START)
    assert (result.resumed, len(result.history)) == (8, 12)


def test_an_interruption_keeps_the_finished_trials(url):
    evaluated = []

    def interrupted(choice):
        if len(evaluated) == 7:
            raise KeyboardInterrupt
        evaluated.append(Trial(choice, hill(choice)))
        return hill(choice)

    plan = Plan(BOX, 12, 0, url)
    with pytest.raises(KeyboardInterrupt):
        maximise(interrupted, plan, START)
    result = maximise(hill, plan, START)
    assert result.resumed == 7
    assert list(result.history[:7]) == evaluated
    # A finished study is read and not searched again; more trials extend it.
    again = maximise(lambda _: pytest.fail("a trial too many"), plan, START)
    assert (again.best, again.resumed) == (result.best, 12)
    more = maximise(hill, Plan(BOX, 16, 0, url), START)
    assert more.history[:12] == result.history
    assert len(more.history) == 16
    assert maximise(hill, Plan(BOX, 2, 0, url, "another"), START).resumed == 0


def test_a_plan_needs_constants_trials_and_ranges_with_two_ends():
    for low, high in ((1, 1), (2, 1), (0, float("inf")), (float("nan"), 1)):
        with pytest.raises(ScoringError, match="two ends"):
            Range(low, high)
    with pytest.raises(ScoringError, match="no constant"):
        Plan({}, 10)
    with pytest.raises(ScoringError, match="1 trial or more"):
        Plan(BOX, 0)


@pytest.mark.parametrize("url", ["mine.db", "redis://host", "sqlite:mine.db", "journal://", "sqlite:///", ""])
def test_an_unknown_storage_names_the_known(url):
    with pytest.raises(StorageError, match=r"sqlite:///FILE, journal:///FILE or postgresql"):
        open_storage(url)


def unreachable(url):
    """The one line that a storage is refused with."""
    with pytest.raises(StorageError, match="cannot be reached: ") as caught:
        maximise(hill, Plan(BOX, 2, 0, url), START)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_storage_that_cannot_be_reached_is_one_line_without_the_password(tmp_path):
    for scheme in ("sqlite", "journal"):
        assert "nowhere" in unreachable(f"{scheme}:///{tmp_path}/nowhere/study")
    (tmp_path / "study").write_text("these are not the trials you are looking for" * 100)
    assert "not a database" in unreachable(f"sqlite:///{tmp_path}/study")
    pytest.importorskip("psycopg")
    message = unreachable("postgresql://me:secret@127.0.0.1:9/studies")
    assert "secret" not in message
    assert "me@127.0.0.1:9/studies" in message


def test_a_postgresql_server_holds_a_study():
    pytest.importorskip("psycopg")
    from web.postgres import postgres_programs, running_postgres

    if postgres_programs() is None:
        pytest.skip("no PostgreSQL is installed")
    with running_postgres() as server:
        first = maximise(hill, Plan(BOX, 4, 0, server), START)
        again = maximise(hill, Plan(BOX, 6, 0, server), START)
    assert (again.resumed, again.history[:4]) == (4, first.history)
