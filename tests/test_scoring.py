import json
import math

import numpy as np
import pytest

from glissando.errors import ScoringError
from glissando.scoring import Scoring, load_scoring, packaged_scorings, score_words, softmax


def test_equation_three_by_hand():
    scoring = Scoring(length_exponent=0.5, frequency_weight=0.1, length_bonus=2.0)
    scores = score_words(np.array([-6.0, -3.0]), np.array([4, 1]), np.array([100, 0], np.uint8), scoring)
    assert scores.tolist() == pytest.approx([-6 / 2 + 10 + 8, -3 + 0 + 2])


def test_the_floor_and_the_distances_by_hand():
    scoring = Scoring(0.0, 0.1, 0.0, frequency_floor=60, location_weight=2.0, shape_weight=10.0)
    distances = np.array([[0.5, 0.1], [0.0, 0.0]])
    scores = score_words(np.array([-1.0, -1.0]), np.array([3, 3]), np.array([5, 90], np.uint8), scoring, distances)
    assert scores.tolist() == pytest.approx([-1 + 6 - 1 - 1, -1 + 9])
    assert scoring.geometric
    assert not Scoring().geometric


def test_arrays_and_tensors_score_alike():
    torch = pytest.importorskip("torch")
    scoring = Scoring(0.4, 0.05, 1.2, frequency_floor=60, location_weight=2.0, shape_weight=3.0)
    rng = np.random.default_rng(0)
    columns = rng.normal(size=7), rng.integers(0, 9, 7), rng.integers(0, 256, 7), rng.random((7, 2))
    arrays = score_words(*columns[:3], scoring, columns[3])
    tensors = [torch.tensor(column) for column in columns]
    np.testing.assert_allclose(score_words(*tensors[:3], scoring, tensors[3]), arrays)


def test_whole_numbers_do_not_wrap_among_the_bytes():
    scores = score_words(np.array([0.0]), np.array([8], np.uint8), np.array([200], np.uint8), Scoring(0, 2, 50))
    assert scores.tolist() == [2 * 200 + 50 * 8]


def test_softmax_sums_to_one_and_temperature_flattens():
    sharp, flat = softmax([3.0, 1.0, -900.0]), softmax([3.0, 1.0, -900.0], temperature=10)
    assert sharp.sum() == pytest.approx(1)
    assert flat[0] < sharp[0]
    assert sharp[0] / sharp[1] == pytest.approx(math.e**2)
    assert softmax([]).tolist() == []


def test_auto_takes_the_language_else_general():
    names = packaged_scorings()
    assert {"en", "general"} <= set(names)
    assert load_scoring("auto", "en") == load_scoring("en")
    assert load_scoring("auto", "xx") == load_scoring("general")


def test_round_trip_through_a_file(tmp_path):
    scoring = Scoring(length_exponent=0.3, temperature=2.0)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"scoring": scoring.to_dict(), "provenance": "a test"}))
    assert load_scoring(path) == scoring
    assert load_scoring(str(path)) == scoring
    assert load_scoring({"length_exponent": 0.3, "temperature": 2.0}) == scoring


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "JSON object"),
        ('{"gamma": 1}', "no scoring constant 'gamma'"),
        ('{"length_exponent": "x"}', "must be a finite number"),
        ('{"length_exponent": NaN}', "must be a finite number"),
        ('{"temperature": 0}', "must be positive"),
        ('{"pruning_frequency": -0.01}', "pruning_frequency must not be negative"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_bad_files(tmp_path, content, message):
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(ScoringError, match=message):
        load_scoring(path)


def test_unknown_names_and_missing_files():
    with pytest.raises(ScoringError, match=r"no scoring 'klingon'.*general"):
        load_scoring("klingon")
    with pytest.raises(ScoringError, match="cannot read"):
        load_scoring("nowhere.json")


def test_a_method_may_have_constants_of_its_own(monkeypatch, tmp_path):
    folder = tmp_path / "assets" / "scoring"
    folder.mkdir(parents=True)
    monkeypatch.setattr("glissando.scoring.resources.files", lambda package: tmp_path)
    for name, bonus in (("general", 1.0), ("en", 2.0), ("en-decoder", 3.0)):
        (folder / f"{name}.json").write_text(json.dumps({"scoring": {"length_bonus": bonus}}), encoding="utf-8")
    kinds = [("en", "encoder"), ("en", "decoder"), ("de", "decoder"), ("", "encoder")]
    assert [load_scoring("auto", *kind).length_bonus for kind in kinds] == [2, 3, 1, 1]
    (folder / "en-decoder.json").unlink()
    assert load_scoring("auto", "en", "decoder").length_bonus == 2


def test_constants_for_swipes_in_doubt_are_constants_too(tmp_path):
    data = {"frequency_weight": 1, "doubt": 0.9, "matched": {"matcher_weight": 0.5, "shape_weight": 2}}
    scoring = Scoring.from_dict(data)
    assert scoring.matched == Scoring(matcher_weight=0.5, shape_weight=2.0)
    assert scoring.geometric  # the second ranking needs the distances
    assert Scoring.from_dict(scoring.to_dict()) == scoring
    with pytest.raises(ScoringError, match=r"matched: no scoring constant 'wait'"):
        Scoring.from_dict({"matched": {"wait": 1}})
    with pytest.raises(ScoringError, match="matcher_weight must be a finite number"):
        Scoring.from_dict({"matched": {"matcher_weight": float("nan")}})
    for bad in (3, [1], "x"):
        with pytest.raises(ScoringError, match="matched"):
            Scoring.from_dict({"matched": bad})
