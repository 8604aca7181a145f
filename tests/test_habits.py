import base64
import json
from dataclasses import fields, replace

import numpy as np
import pytest

from glissando import habits as module
from glissando.errors import HabitsError
from glissando.habits import (
    EVERY,
    FINALISTS,
    HIGHEST,
    LOWEST,
    MEMORY,
    STEADY,
    TERMS,
    WEIGHTS,
    Features,
    Habits,
    contributions,
)
from glissando.scoring import Scoring, load_scoring, score_words

K = len(TERMS)
SCORING = load_scoring("en-matcher")


def swipes(factors, count, seed=0, width=8):
    """Contributions of finalists, and the word meant drawn by a person with these factors."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        terms = 2 * rng.normal(size=(width, K))
        yield terms, int((terms @ factors + rng.gumbel(size=width)).argmax())


def learned(factors, count, **kwargs):
    habits = Habits(**kwargs)
    for terms, meant in swipes(np.asarray(factors), count):
        habits.record(terms, meant)
    return habits


def finalists(rng, count=12):
    return Features(
        -rng.exponential(5, count), rng.integers(2, 12, count), rng.integers(0, 255, count).astype(np.uint8),
        rng.exponential(0.5, (count, 2)), rng.normal(size=count),
    )  # fmt: skip


def scores_of(known, constants):
    alone = score_words(known.log_prob, known.length, known.frequency, constants, known.distances)
    return alone + constants.matcher_weight * known.matches


def test_the_table_names_constants_of_the_scoring():
    known = {field.name for field in fields(Scoring)}
    named = {name for names in WEIGHTS.values() for name in names} | set(STEADY)
    assert named <= known
    weighing = {name for name in known if name.endswith(("_weight", "_bonus"))} - {"pruning_bonus"}
    assert weighing == named  # a weight that is left out would change against the others


@pytest.mark.parametrize("constants", [SCORING, SCORING.matched], ids=["first", "matched"])
def test_contributions_add_up_to_the_score(constants):
    known = finalists(np.random.default_rng(0))
    terms = contributions(known, constants)
    assert terms.shape == (12, K)
    assert terms.sum(axis=1) == pytest.approx(scores_of(known, constants) / constants.temperature)
    by_name = dict(zip(TERMS, terms.T, strict=True))
    assert by_name["length"] == pytest.approx(constants.length_bonus * known.length / constants.temperature)
    assert by_name["location"] == pytest.approx(
        -constants.location_weight * known.distances[:, 0] / constants.temperature
    )
    plain = contributions(replace(known, distances=None, matches=None), constants)
    assert not plain[:, TERMS.index("shape")].any()
    assert not plain[:, TERMS.index("match")].any()


def test_nothing_learned_changes_nothing():
    habits = Habits()
    assert habits.factors.tolist() == [1.0] * K
    assert habits.apply(SCORING) is SCORING
    assert habits.fit().tolist() == [1.0] * K


def test_a_persons_factors_are_found():
    person = np.array([0.6, 1.5, 1.0, 0.8, 1.2, 1.0])
    assert learned(person, MEMORY, penalty=0.1).fit() == pytest.approx(person, abs=0.2)


def test_a_few_words_change_little_and_the_prior_holds_most_terms_tighter():
    person = [0.5, 1.8, 1.8, 1.0, 1.0, 1.0]
    few, many = learned(person, 10).fit(), learned(person, MEMORY).fit()
    assert np.abs(few - 1).max() < 0.2
    assert abs(many[1] - 1) > abs(few[1] - 1)
    assert many[1] - 1 > 1.5 * (many[2] - 1) > 0  # frequency is free, length is not, the person has both alike
    assert learned(person, MEMORY, stiffness=1).fit()[2] > many[2]


def test_factors_stay_within_their_bounds():
    person = np.array([-3.0, 9.0, 1.0, 1.0, 1.0, 1.0])  # the evidence counts against the word: no real person
    factors = learned(person, 300, penalty=0.01).fit()
    assert factors[0] == LOWEST
    assert factors[1] == HIGHEST
    assert (factors >= LOWEST).all()
    assert (factors <= HIGHEST).all()


def test_it_is_fitted_again_after_every_ten_swipes_at_the_most(monkeypatch):
    fits = []
    monkeypatch.setattr(module, "fit_weights", lambda *a, fit=module.fit_weights, **k: fits.append(1) or fit(*a, **k))
    habits = Habits()
    for number, (terms, meant) in enumerate(swipes(np.full(K, 0.5), 25), 1):
        habits.record(terms, meant)
        assert (habits.factors != 1).any() == (number >= EVERY)
        assert len(fits) == number // EVERY


def test_the_oldest_swipes_go():
    habits = learned(np.full(K, 0.5), 40)
    for terms, meant in swipes(np.full(K, 1.5), MEMORY, seed=1):
        habits.record(terms, meant)
    assert len(habits) == MEMORY
    only_new = Habits()
    for terms, meant in swipes(np.full(K, 1.5), MEMORY, seed=1):
        only_new.record(terms, meant)
    assert habits.fit() == pytest.approx(only_new.fit(), abs=1e-6)


def test_the_best_finalists_are_kept_and_always_the_one_meant():
    best, worst, many = Habits(), Habits(), 100
    terms = np.zeros((many, K))
    terms[:, 0] = -np.arange(many)
    best.record(terms[:FINALISTS], 3)
    worst.record(terms, 3)  # the others do not matter
    assert np.array_equal(best.fit(), worst.fit())
    lost = Habits()
    lost.record(terms, many - 1)
    assert lost.fit()[0] < 1  # the word meant was the last of a hundred, so the evidence counts less


def test_adapted_constants_rank_by_the_factors_and_stay_calibrated():
    factors = np.array([0.7, 1.6, 0.9, 1.1, 1.3, 0.8])
    habits = learned(factors, 300, penalty=0.1)
    factors = habits.fit()
    changed = habits.apply(SCORING)
    for packaged, adapted in ((SCORING, changed), (SCORING.matched, changed.matched)):
        known = finalists(np.random.default_rng(1))
        logits = scores_of(known, adapted) / adapted.temperature
        assert logits == pytest.approx(contributions(known, packaged) @ factors)
        same = packaged.context_weight / packaged.temperature  # nats of context count as before
        assert adapted.context_weight / adapted.temperature == pytest.approx(same)
        changing = {name for names in WEIGHTS.values() for name in names} | {*STEADY, "temperature", "matched"}
        kept = {field.name for field in fields(Scoring)} - changing
        assert all(getattr(adapted, name) == getattr(packaged, name) for name in kept)
    assert habits.apply(replace(SCORING, matched=None)).matched is None


def test_a_swipe_with_one_finalist_is_not_kept():
    habits = Habits()
    habits.record(np.ones((1, K)), 0)
    assert len(habits) == 0


@pytest.mark.parametrize(
    ("terms", "meant", "message"),
    [
        (np.zeros((3, K + 1)), 0, r"6 for each finalist \(evidence, .*match\); got an array of shape \(3, 7\)"),
        (np.zeros(K), 0, r"got an array of shape \(6,\)"),
        (np.full((3, K), np.nan), 0, "finite numbers"),
        (np.full((3, K), -np.inf), 0, "finite numbers"),
        (np.zeros((3, K)), 3, "the finalist meant is one of 3, got 3"),
        (np.zeros((3, K)), -1, "the finalist meant is one of 3, got -1"),
        (np.zeros((0, K)), 0, "the finalist meant is one of 0, got 0"),
    ],
)
def test_an_unusable_swipe_is_refused_and_nothing_is_lost(terms, meant, message):
    habits = learned(np.ones(K), 3)
    with pytest.raises(HabitsError, match=message):
        habits.record(terms, meant)
    assert len(habits) == 3


def test_huge_contributions_do_no_harm():
    habits = Habits()
    for number in range(20):
        habits.record(np.array([[1e300] * K, [-1e300] * K, [0.0] * K]), number % 3)
    assert np.isfinite(habits.fit()).all()


def test_habits_come_back_as_they_were_and_hold_no_more_than_numbers(tmp_path):
    habits, path = learned([0.6, 1.5, 1.0, 1.0, 1.0, 1.0], 37), tmp_path / "new" / "habits.json"
    habits.save(path)
    again = Habits.load(path)
    assert len(again) == 37
    assert again.factors == pytest.approx(habits.fit(), abs=1e-6)
    assert set(json.loads(path.read_text())) == {"version", "terms", "sizes", "values"}
    again.forget()
    assert len(again) == 0
    assert again.apply(SCORING) is SCORING
    again.save(path)
    assert Habits.load(path).apply(SCORING) is SCORING


def test_a_term_that_an_older_file_lacks_keeps_its_factor(tmp_path):
    path = tmp_path / "habits.json"
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 2)).astype("<f2")
    values[::3] = 0
    data = {"version": 1, "terms": ["frequency", "evidence"], "sizes": [3] * 20, "values": as_text(values)}
    path.write_text(json.dumps(data))
    factors = dict(zip(TERMS, Habits.load(path).factors, strict=True))
    assert factors["evidence"] != 1
    assert factors["frequency"] != 1
    assert {factors[name] for name in TERMS if name not in ("evidence", "frequency")} == {1.0}


def as_text(values):
    return base64.b64encode(np.asarray(values, dtype="<f2").tobytes()).decode()


def contents(**changes):
    return {"version": 1, "terms": list(TERMS), "sizes": [2], "values": as_text(np.zeros((2, K)))} | changes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"\x00\xff", "is not JSON"),
        (b"3", "must be a JSON object"),
        (b"{}", "version None; this glissando reads 1"),
        (contents(version=9), "version 9"),
        (contents(terms=None), "needs a list of terms"),
        (contents(terms=["evidence", "mood"]), "no term 'mood'"),
        (contents(terms=["evidence", []]), r"no term \[\]"),
        (contents(terms=["evidence", "evidence"]), "terms must be distinct"),
        (contents(sizes=[2] * (MEMORY + 1)), "swipes no more than 500"),
        (contents(sizes=[1]), "every swipe has 2 to 24 finalists"),
        (contents(sizes=[10**12]), "every swipe has 2 to 24 finalists"),
        (contents(sizes=["2"]), "every swipe has 2 to 24 finalists"),
        (contents(sizes=[3]), "values must be 18 finite numbers"),
        (contents(values="!"), "values cannot be read"),
        (contents(values="AAA="), "values"),
        (contents(values=as_text(np.full((2, K), np.nan))), "values must be 12 finite numbers"),
        (contents(values=as_text(np.full((2, K), np.inf))), "values must be 12 finite numbers"),
        (contents(values=["0"]), "a string of values"),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_by_name(tmp_path, content, message):
    path = tmp_path / "habits.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(HabitsError, match=rf"habits\.json.*{message}"):
        Habits.load(path)


def test_a_missing_or_too_long_file_is_refused(tmp_path, monkeypatch):
    with pytest.raises(HabitsError, match=r"cannot read habits .*: No such file"):
        Habits.load(tmp_path / "none.json")
    (tmp_path / "long.json").write_bytes(b" " * 100)
    monkeypatch.setattr(module, "MAX_BYTES", 99)
    with pytest.raises(HabitsError, match="longer than 99 bytes"):
        Habits.load(tmp_path / "long.json")
