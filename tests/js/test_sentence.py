"""The best sequence of words over several swipes: JavaScript beside Python."""

import json
from importlib import resources

import numpy as np
import pytest
from js.running import ask_kit, run_script, swipe_points

from glissando.context import load_context
from glissando.export.constants import page_constants
from glissando.gesture import as_gesture
from glissando.sentence import Slot, best_sequence

BEST = """
import { readFileSync } from "node:fs"; import { readContext } from "./src/context.js";
import { bestSequence } from "./src/sentence.js";
const { file, constants, questions } = JSON.parse(readFileSync(0, "utf-8"));
const context = readContext(new Uint8Array(readFileSync(file)).buffer, { ...constants.context, elisions: [] });
const answer = ({ slots, text, told }) => bestSequence(slots, told ? context : null, text, constants.sentence);
console.log(JSON.stringify(questions.map(answer)));
"""
JOIN = """
const keyboard = await kit.keyboard("qwerty", said.codes);
const answers = [];
for (const { swipes, text } of said.sentences) {
  const finalists = [];
  for (const points of swipes) finalists.push(await keyboard.finalists(points));
  const { words, probability, candidates } = keyboard.join(finalists, 6, text);
  const told = ({ word, score, probability: share, language, literal }) => ({ word, score, share, language, literal });
  const lists = candidates.map((list) => ({ list: list.map(told), none: list.none }));
  answers.push({ words, probability, candidates: lists });
}
console.log(JSON.stringify(answers));
"""
SENTENCES = {
    "I fell good today": "",
    "das ist ein guter Tag": "Guten Morgen.",
    "the house is old": None,
    "ich weiß nicht well": "She said:",
    "we are in the": "und dann sagte er",
}


def random_slots(rng):
    """Some finalists for each of some places, among them unknown words; a place may have none."""
    slots = []
    for _ in range(rng.integers(1, 6)):
        size = int(rng.choice([0, 1, 3, 12, 40]))
        numbers = rng.integers(-1, 300, size).astype(np.int32)
        slots.append(Slot(numbers, rng.normal(0, 1.5, size), float(rng.choice([0.3, 1.0, 1.7]))))
    return slots


def test_sequences_are_those_of_python(node):
    context, rng = load_context("en"), np.random.default_rng(3)
    asked = [(random_slots(rng), text, told) for text in ("", "I am", "on my") for told in (True, False) * 10]
    questions = [
        {"slots": [{"numbers": one.numbers.tolist(), "logs": one.logs.tolist(), "weight": one.weight} for one in slots],
         "text": text, "told": told}
        for slots, text, told in asked
    ]  # fmt: skip
    file = resources.files("glissando") / "assets" / "contexts" / "en.context"
    said = {"file": str(file), "constants": page_constants(), "questions": questions}
    done = run_script(node, BEST, json.dumps(said))
    assert done.stderr == ""
    changed = 0
    for (slots, text, told), found in zip(asked, json.loads(done.stdout), strict=True):
        places, shares, probability = best_sequence(slots, context if told else None, text)
        assert found["places"] == list(places)
        assert found["probability"] == pytest.approx(probability, abs=1e-9)
        for said, expected in zip(found["shares"], shares, strict=True):
            assert said == pytest.approx(expected.tolist(), abs=1e-9)
        changed += told and list(places) != [int(one.logs.argmax()) if len(one.logs) else -1 for one in slots]
    assert changed > 5  # the context has a say


def test_swipes_are_joined_as_in_python(node, small_kit, bilingual):
    sentences = [
        {"swipes": [swipe_points(word, bilingual.layout, seed, 0.35) for word in words.split()], "text": text}
        for seed, (words, text) in enumerate(SENTENCES.items())
    ]
    sentences.append({"swipes": [], "text": ""})
    answers = ask_kit(node, small_kit, JOIN, {"codes": ["de", "en"], "sentences": sentences})
    for asked, found in zip(sentences, answers, strict=True):
        finalists = [bilingual.finalists(as_gesture(points)) for points in asked["swipes"]]
        expected = bilingual.join(finalists, 6, asked["text"])
        assert found["words"] == list(expected.words)
        assert found["probability"] == pytest.approx(expected.probability, abs=1e-3)
        for said, candidates in zip(found["candidates"], expected.candidates, strict=True):
            assert said["none"] == pytest.approx(candidates.none, abs=1e-3)
            by_word = {one["word"]: one for one in said["list"]}
            for one in candidates:
                told = by_word[one.word]
                assert (told["language"], told["literal"]) == (one.language, one.literal)
                assert [told["share"], told["score"]] == pytest.approx([one.probability, one.score], abs=1e-3)
    assert {one["language"] for said in answers[3]["candidates"] for one in said["list"]} == {"de", "en"}
