"""Explanations: the JSON of JavaScript beside what the API answers for the same swipes."""

import json
from collections import Counter
from dataclasses import asdict, replace

import numpy as np
import pytest
from js.running import TWICE, ask_kit, run_script, swipe_points

from glissando.ctc import align, needed_frames, word_costs
from glissando.explain import explain, field
from glissando.gesture import as_gesture
from glissando.scoring import Candidates

K = 5
EXPLAIN = """
const keyboard = await kit.keyboard(said.layout, ["de", "en"]);
const answer = ({ points, own, ...question }) => keyboard.explain(points, question);
// At the same time: none may disturb another.
const answers = await Promise.all(said.questions.map((one) => !one.own.length && answer(one)));
for (const [i, one] of said.questions.entries()) {
  if (answers[i]) continue;
  keyboard.vocabulary = new Vocabulary(keyboard.constants.vocabulary);
  for (const word of one.own) keyboard.learn(word);
  answers[i] = await answer(one);
}
console.log(JSON.stringify(answers));
"""
# The word swiped, the one meant, and what is special.
QUESTIONS = [
    ("we", "we", {}), ("house", "house", {}), ("house", "HOUSE", {"context": "in the"}),
    ("Haus", "aus", {"context": "Er ist nicht zu"}),
    ("straße", "Strasse", {}), ("well", "we'll", {"context": ""}), ("nicht", "night", {"context": "in the"}),
    ("night", "nicht", {"context": "das ist"}), ("good", "zebra", {}), ("good", "management", {"context": "very"}),
    ("glissando", "glissando", {}), ("glissando", "Glissandos", {"context": "the"}), ("good", "haus", {}),
    ("morning", "日本", {}), ("morning", "a" * 40, {}), ("morning", None, {}), ("morning", "  ", {"context": "Good"}),
    ("teagan", "teagan", {"own": ["Teagan"]}), ("house", "teagan", {"own": ["Teagan", "houses"], "context": "the"}),
    ("hello", "hello", {"prefix": "he", "suffix": "o"}), ("hello", "help", {"prefix": "he", "suffix": "o"}),
    ("hello", "hallo", {"prefix": "he"}), ("hello", "teagan", {"prefix": "h", "own": ["teagan", "hellos"]}),
    ("people", "people", {"noise": 1.0}), ("anything", "nothing", {"noise": 0.8, "context": "I don't know"}),
]  # fmt: skip
ALIGN = """
import { readFileSync } from "node:fs"; import { align, neededFrames, wordLogProb } from "./src/ctc.js";
import { field } from "./src/explain.js";
const { words, waves } = JSON.parse(readFileSync(0, "utf-8"));
console.log(JSON.stringify({
  words: words.map(({ frames, labels }) => {
    const [logProbs, classes] = [Float32Array.from(frames.flat()), frames[0].length];
    const logProb = wordLogProb(Float64Array.from(logProbs, Math.exp), labels, classes);
    return { ...align(logProbs, labels, classes), needed: neededFrames(labels), logProb };
  }),
  fields: waves.map(({ coefficients, aspect }) => field(Float32Array.from(coefficients), aspect)),
}));
"""


def expected(keyboard, points, own, word=None, context=None, prefix="", suffix=""):
    """What the API answers."""
    for one in own:
        keyboard.vocabulary.learn(one)
    told = explain(keyboard, as_gesture(points), (word or "").strip() or None, context, (prefix, suffix))
    for one in own:
        keyboard.vocabulary.forget(one)
    shown = Candidates(told.candidates[:K])
    return json.loads(json.dumps(asdict(replace(told, candidates=shown, none=shown.none))))


def assert_alike(got, wanted, at="answer"):
    """Compare JSON: all that is not a number exactly, numbers to the tolerances of the golden vectors."""
    if isinstance(wanted, dict):
        assert got.keys() == wanted.keys(), at
        for name, value in wanted.items():
            assert_alike(got[name], value, f"{at}.{name}")
    elif isinstance(wanted, list):
        assert len(got) == len(wanted), at
        for i, value in enumerate(wanted):
            assert_alike(got[i], value, f"{at}[{i}]")
    elif isinstance(wanted, float):
        assert got == pytest.approx(wanted, abs=1e-3, rel=1e-4), at
    elif ".field" in at:
        assert abs(got - wanted) <= 1, at
    else:
        assert got == wanted, at


def compared(node, folder, keyboard, questions):
    """Compare what JavaScript and the API answer, and return it."""
    asked = []
    for seed, (swiped, meant, more) in enumerate(questions):
        points = swipe_points(swiped, keyboard.layout, seed, more.get("noise", 0.3))
        told = {name: value for name, value in more.items() if name != "noise"}
        asked.append({"points": points, "word": meant, "own": [], **told})
    answers = ask_kit(node, folder, EXPLAIN, {"layout": keyboard.layout.name, "questions": asked})
    found = [expected(keyboard, **question) for question in asked]
    for question, got, wanted in zip(asked, answers, found, strict=True):
        assert_alike(got, wanted, f"{question['word']}")
    return found


def test_explanations_are_those_of_the_api(node, small_kit, bilingual):
    found = compared(node, small_kit, bilingual, QUESTIONS)
    verdicts = Counter(one["meant"]["verdict"] if one["meant"] else None for one in found)
    assert min(verdicts[verdict] for verdict in ("first", "outscored", "pruned", "out of lexicon")) >= 2
    assert verdicts["not typeable"] == verdicts[None] == 2
    meant = [one["meant"] for one in found if one["meant"] and one["meant"]["costs"]]
    assert {one["worst"] is None for one in meant} == {one["asked"] for one in found} == {True, False}


def test_a_letter_with_two_keys_is_explained_too(node, small_kit, bilingual):
    keyboard = bilingual.replace(layout=TWICE)
    found = compared(node, small_kit, keyboard, [("people", "people", {}), ("heute", "hute", {"context": "Ich habe"})])
    assert {one["letter"] for answer in found for one in answer["letters"]} >= {"e"}


def test_alignments_and_fields_are_those_of_python(node):
    rng, words, waves = np.random.default_rng(4), [], []
    for labels in ([0], [1, 1], [0, 1, 2, 0], [2, 2, 2], [0, 1, 0, 1, 1, 2, 0, 2]):
        for sharpness in (1, 8, 60):
            logits = sharpness * rng.normal(size=(24, 4))
            frames = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
            words.append({"frames": frames.astype(np.float32).tolist(), "labels": labels})
    for aspect in (0.05, 0.4, 0.4125, 3):
        waves.append({"coefficients": rng.normal(size=64).astype(np.float32).tolist(), "aspect": aspect})
    done = run_script(node, ALIGN, json.dumps({"words": words, "waves": waves}))
    assert done.stderr == ""
    found = json.loads(done.stdout)
    for asked, got in zip(words, found["words"], strict=True):
        frames, labels = np.array(asked["frames"], np.float32), asked["labels"]
        alignment = align(frames, labels)
        assert got["needed"] == needed_frames(labels)
        assert got["frames"] == list(alignment.frames)
        assert [*got["costs"], got["gaps"]] == pytest.approx([*alignment.costs, alignment.gaps])
        assert got["logProb"] == pytest.approx(-word_costs(frames[None], [labels])[0])
    assert min(one["logProb"] for one in found["words"]) < -800  # beyond what a float64 holds without a logarithm
    for asked, got in zip(waves, found["fields"], strict=True):
        wanted = np.rint(255 * field(np.array(asked["coefficients"], np.float32), asked["aspect"]))
        assert np.array(got).shape == wanted.shape
        assert np.abs(np.array(got) - wanted).max() <= 1
