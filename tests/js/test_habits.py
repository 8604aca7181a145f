"""Ranking constants that follow their person: JavaScript beside Python."""

import json

import numpy as np
import pytest
from js.running import ask_kit, run_script, swipe_points

from glissando.export.constants import page_constants
from glissando.gesture import as_gesture
from glissando.habits import MEMORY, TERMS, Habits
from glissando.scoring import load_scoring
from glissando.vocabulary import Vocabulary

CONSTANTS = page_constants()["habits"]
SCORING = load_scoring("en-matcher")
RECORD = """
import { readFileSync } from "node:fs"; import { Habits } from "./src/habits.js";
const { swipes, file, constants, scoring } = JSON.parse(readFileSync(0, "utf-8"));
const habits = new Habits(constants);
const first = habits.apply(scoring) === scoring;
const factors = swipes.map(({ terms, meant }) => { habits.record(terms, meant); return habits.factors; });
const applied = habits.apply(scoring);
const again = Habits.from(file, constants);
const saved = [habits.toJSON(), again.toJSON()];
habits.forget();
const told = { size: again.size, again: again.factors, saved, forgot: habits.factors };
console.log(JSON.stringify({ first, factors, applied, ...told }));
"""
REFUSE = """
import { readFileSync } from "node:fs"; import { Habits } from "./src/habits.js";
const { files, records, constants } = JSON.parse(readFileSync(0, "utf-8"));
const refusal = (call) => {
  try { call(); } catch (error) { return `${error.constructor.name}: ${error.message}`; }
  return "";
};
console.log(JSON.stringify([
  ...files.map((file) => refusal(() => Habits.from(file, constants))),
  ...records.map(({ terms, meant }) => refusal(() => new Habits(constants).record(terms, meant))),
]));
"""
ACCEPT = """
import { Habits } from "./src/habits.js";
const keyboard = await kit.keyboard("qwerty", ["de", "en"]);
keyboard.habits = new Habits(kit.index.constants.habits);
for (const { points, word } of said.accepted) await keyboard.accept(points, word);
const found = [];
for (const points of said.asked) {
  const candidates = await keyboard.decode(points, 5, "in the");
  found.push(candidates.map(({ word, score, probability }) => ({ word, score, probability })));
}
const { factors, size } = keyboard.habits;
console.log(JSON.stringify({ factors, size, found, own: [...keyboard.vocabulary.uses.keys()] }));
"""


def random_swipes(count, rng):
    """Contributions of finalists of all sizes, and which of them a person means who trusts frequencies more."""
    person = np.array([0.7, 1.6, 1.0, 1.0, 1.2, 1.0])
    for _ in range(count):
        width = int(rng.choice([1, 2, 8, 40]))
        terms = rng.choice([1e-4, 2.0, 50.0, 3e4], p=[0.1, 0.7, 0.15, 0.05]) * rng.normal(size=(width, len(TERMS)))
        yield terms, int((terms @ person + rng.gumbel(size=width)).argmax())


def test_factors_and_files_are_those_of_python(node, tmp_path):
    rng, habits, expected, said = np.random.default_rng(2), Habits(), [], []
    for terms, meant in random_swipes(MEMORY + 60, rng):
        habits.record(terms, meant)
        expected.append(habits.factors.tolist())
        said.append({"terms": terms.tolist(), "meant": meant})
    habits.save(tmp_path / "habits.json")
    saved = json.loads((tmp_path / "habits.json").read_text())
    told = {"swipes": said, "file": saved, "constants": CONSTANTS, "scoring": SCORING.to_dict()}
    done = run_script(node, RECORD, json.dumps(told))
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["first"] is True
    assert np.array(found["factors"]) == pytest.approx(np.array(expected), abs=1e-6)
    assert np.abs(np.array(expected[-1]) - 1).max() > 0.1
    applied = habits.apply(SCORING).to_dict()
    for got, wanted in ((found["applied"], applied), (found["applied"]["matched"], applied["matched"])):
        assert {**got, "matched": None} == pytest.approx({**wanted, "matched": None}, abs=1e-5)
    assert found["saved"] == [saved, saved]
    assert found["size"] == len(habits)
    assert found["again"] == pytest.approx(Habits.load(tmp_path / "habits.json").factors.tolist(), abs=1e-6)
    assert found["forgot"] == [1.0] * len(TERMS)


def test_bad_files_and_terms_are_refused(node):
    good = {"version": 1, "terms": ["evidence"], "sizes": [2], "values": "AAAAPA=="}
    bad = {
        "null": "have version undefined; this reads 1",
        json.dumps(good | {"version": 2}): "have version 2; this reads 1",
        json.dumps(good | {"sizes": "2"}): "need a list of terms, a list of sizes and a string",
        json.dumps(good | {"terms": ["luck"]}): 'know no term "luck", only evidence, frequency',
        json.dumps(good | {"terms": ["evidence", "evidence"]}): "need distinct terms",
        json.dumps(good | {"sizes": [2] * (MEMORY + 1)}): f"at most {MEMORY} swipes",
        json.dumps(good | {"sizes": [1]}): "has 2 to 24 finalists",
        json.dumps(good | {"sizes": [2.5]}): "has 2 to 24 finalists",
        json.dumps(good | {"values": "%"}): "cannot be read",
        json.dumps(good | {"values": "AAAA"}): "need 2 finite numbers",
        json.dumps(good | {"values": "AHwAAA=="}): "need 2 finite numbers",  # infinite
    }
    terms = [[1.0] * 6, [2.0] * 6]
    records = [
        {"terms": [[1.0] * 5], "meant": 0},
        {"terms": [[1.0] * 5 + [None]], "meant": 0},
        {"terms": terms, "meant": 2},
        {"terms": terms, "meant": -1},
    ]
    files = [*map(json.loads, bad), good]
    done = run_script(node, REFUSE, json.dumps({"files": files, "records": records, "constants": CONSTANTS}))
    assert done.stderr == ""
    refused = json.loads(done.stdout)
    for why, said in zip(bad.values(), refused, strict=False):
        assert said.startswith("HabitsError: ")
        assert why in said
    assert refused[len(bad)] == ""
    for said in refused[len(bad) + 1 : len(bad) + 3]:
        assert said.startswith("HabitsError: a swipe's terms are finite numbers, 6 for each finalist (evidence, ")
    assert refused[-2:] == [f"HabitsError: the finalist meant is one of 2, got {meant}" for meant in (2, -1)]


def test_a_keyboard_follows_its_person_as_in_python(node, small_kit, bilingual):
    """The person means rarer words than the network and the frequencies say."""
    keyboard = bilingual.replace(habits=Habits(), vocabulary=Vocabulary())
    rng, accepted = np.random.default_rng(8), []
    for seed, word in enumerate(["in", "his", "good", "haus", "the", "wir", "die", "well", "people", "night"] * 3):
        points = swipe_points(word, keyboard.layout, seed, 0.8)
        candidates = keyboard.decode(as_gesture(points), 4)
        meant = candidates[int(rng.integers(len(candidates)))].word if seed % 2 else word
        accepted.append({"points": points, "word": meant})
    accepted.append({"points": accepted[0]["points"], "word": "Teagan"})
    asked = [swipe_points(word, keyboard.layout, 50 + seed, 0.6) for seed, word in enumerate(["house", "nicht", "so"])]
    found = ask_kit(node, small_kit, ACCEPT, {"accepted": accepted, "asked": asked})
    for one in accepted:
        keyboard.accept(as_gesture(one["points"]), one["word"])
    own = keyboard.vocabulary.words
    assert found["own"] == list(own)
    assert "Teagan" in own
    assert found["size"] == len(keyboard.habits) >= 20
    assert found["factors"] == pytest.approx(keyboard.habits.factors.tolist(), abs=1e-3)
    assert abs(found["factors"][0] - 1) > 0.02
    for points, said in zip(asked, found["found"], strict=True):
        expected = keyboard.decode(as_gesture(points), 5, "in the")
        assert [one["word"] for one in said] == [one.word for one in expected]
        for got, wanted in zip(said, expected, strict=True):
            assert got["probability"] == pytest.approx(wanted.probability, abs=2e-3)
            assert got["score"] == pytest.approx(wanted.score, abs=0.02)
