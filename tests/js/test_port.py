"""The JavaScript package in Node: golden vectors, and each part beside Python's."""

import hashlib
import itertools
import json
import random
import shutil
import unicodedata
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from js.running import TWICE, check_in_node, export, lexicon, run_script

import glissando
from glissando.context import ELISIONS, TAIL, last_words
from glissando.export.bundle import read_bundle
from glissando.lexicon import MAX_WORD, TYPED_AS, typed_letters
from glissando.synth import swipe
from glissando.vocabulary import DECADE, FIRST, HALF_LIFE, HIGHEST, MAX_COUNT, Vocabulary


def test_golden_vectors_pass_in_node(node, bundle):
    code, report, errors = check_in_node(node, bundle)
    assert (code, errors) == (0, "")
    assert (report["swipes"], report["failures"]) == (60, 0)
    assert 0 < report["asked"] < 60
    assert 0 < report["literal"] < 60
    for stage, tolerance in {"path": 1e-6, "emissions": 5e-4, "matches": 1e-3, "gains": 1e-4, "scores": 1e-3}.items():
        assert report["worst"][stage] <= tolerance


# 32 frames, no frequency floor, a narrow beam, look-ahead.
AHEAD = {
    "location_weight": 1.0,
    "shape_weight": 3.0,
    "temperature": 2.0,
    "pruning_frequency": 0.05,
    "pruning_floor": 40,
}
LITERALS = {"fluency_weight": 0.4, "literal_bonus": 6.0, "none_bonus": -1.0, "none_share": 0.4}
DOUBTED = AHEAD | {"doubt": 1.0, "matched": {"location_weight": 1.0, "matcher_weight": 0.7, "temperature": 1.5}}
RUSSIAN = {"привет": 3, "мир": 2, "ёж": 1}


@pytest.mark.parametrize(
    ("layout", "options", "stage", "low", "high"),
    [
        (TWICE, {"scoring": AHEAD, "width": 20}, "letters", 1e-12, 5e-4),
        (TWICE, {"scoring": DOUBTED, "width": 20}, "matches", 1e-12, 1e-3),  # the nearer key of the two
        (TWICE, {"scoring": DOUBTED | LITERALS | {"frequency_floor": 30}}, "matches", 1e-12, 1e-3),
        ("qwerty", {"method": "decoder"}, "corrected", 1e-12, 1e-3),  # its keys are in another order than the layout's
        ("qwerty", {"method": "decoder", "scoring": AHEAD | LITERALS}, "corrected", 1e-12, 1e-3),
        ("jcuken", {"lexicon": RUSSIAN, "scoring": {}, "context": None}, "distances", 0, 0),  # no geometry, no context
    ],
)  # fmt: skip
def test_other_keyboards_pass_too(node, tiny_weights, tiny_decoder, tmp_path, layout, options, stage, low, high):
    options = {"language": "en", "lexicon": lexicon(), "weights": tiny_weights, "decoder": tiny_decoder} | options
    code, report, errors = check_in_node(node, export(glissando.load(layout, **options), tmp_path / "bundle", 20))
    assert (code, errors) == (0, "")
    assert low <= report["worst"][stage] <= high


def altered(bundle, folder, change):
    """A copy of the bundle with changed golden vectors and a manifest that matches them."""
    shutil.copytree(bundle, folder, symlinks=True)
    records = [json.loads(line) for line in (folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    change(records)
    data = "".join(json.dumps(record) + "\n" for record in records).encode()
    (folder / "golden.jsonl").write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"]["golden.jsonl"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def test_a_wrong_answer_does_not_pass(node, bundle, tmp_path):
    """Every stage is compared: one changed number in one swipe is reported."""

    def change(records):
        records[0]["path"][1][63] += 2e-6
        records[1]["emissions"][5][3] += 0.02
        swipes = [record for record in records if record["kind"] == "swipe"]
        asked = [record for record in records if record["kind"] != "swipe" and record["matches"]]
        asked[0]["matches"][next(iter(asked[0]["matches"]))] += 0.002
        asked[1]["matches"] = None
        next(record for record in records if record.get("context") == "")["candidates"][0]["gain"] += 0.002
        swipes[0]["candidates"][1]["score"] += 0.002
        swipes[1]["candidates"][0]["log_prob"] -= 0.002
        swipes[2]["candidates"][0]["location"] += 0.002
        swipes[3]["candidates"][0]["probability"] += 0.002
        swipes[4]["candidates"][0]["word"] = "nothing"
        swipes[5]["candidates"][0]["letters"] = "nothing"
        literal = [one for record in records for one in record["candidates"] if "literal" in one]
        literal[0]["fluency"] += 0.002
        del literal[-1]["literal"]
        swipes[6]["none"] += 0.002

    code, report, errors = check_in_node(node, altered(bundle, tmp_path / "wrong", change))
    assert code == 1
    stages = (
        "path", "emissions", "scores", "scores", "distances", "probabilities", "reads", "lacks", "misspells", "matches",
        "asks", "gains", "scores", "has", "probabilities",
    )  # fmt: skip
    assert report["failures"] == len(stages)
    for stage in set(stages):
        assert f": {stage} " in errors


def test_damage_is_refused(node, bundle, tmp_path):
    shutil.copytree(bundle, tmp_path / "bad", symlinks=True)
    whole = (bundle / "trie.bin").read_bytes()
    (tmp_path / "bad" / "trie.bin").write_bytes(whole[:900] + bytes([whole[900] ^ 1]) + whole[901:])
    code, _, errors = check_in_node(node, tmp_path / "bad")
    assert code == 1
    assert "trie.bin is damaged" in errors  # before Node 20 by its own checksum
    assert "trie.bin is damaged: section" in run_script(node, READ_TRIE, folder=tmp_path / "bad").stderr
    whole = (bundle / "language.context").read_bytes()
    for damaged, why in {
        whole[:-1] + bytes([whole[-1] ^ 1]): "the context is damaged: its checksum",
        whole[:-8]: "the context is damaged: its checksum",
        whole[:8] + b"\2" + whole[9:]: "the context has version 2; this reads 1",
        b"GLISS" + whole[5:]: "this is no context file",
        b"": "this is no context file",
    }.items():
        (tmp_path / "bad" / "language.context").write_bytes(damaged)
        assert why in run_script(node, READ_CONTEXT, folder=tmp_path / "bad").stderr


READ_TRIE = """
import { readTrie } from "./src/trie.js"; import { readFileSync } from "node:fs";
readTrie(new Uint8Array(readFileSync(`${process.argv[1]}/trie.bin`)).buffer);
"""
READ_CONTEXT = """
import { readContext } from "./src/context.js"; import { readFileSync } from "node:fs";
readContext(new Uint8Array(readFileSync(`${process.argv[1]}/language.context`)).buffer, {});
"""
LAST_WORDS = """
import { lastWords } from "./src/context.js"; import { readFileSync } from "node:fs";
const { texts, ...constants } = JSON.parse(readFileSync(0, "utf-8"));
console.log(JSON.stringify(texts.map((text) => lastWords(text, constants))));
"""
# What the two languages' regular expressions and strings do not agree on by themselves, and ordinary text between it.
PIECES = [
    *"aZéßİΣ7½٣_-'’. .!?…:;,。！)»”\"\n\r\t\0\x1c\x1f\x85\xa0\u2028\u3000\ufeff\u200b\u0301\u037e", "😀", "𝟘", "𝔸", "𑀁",
    "e\u0301", "हिन्दी", "日本語", "ΣΑΣ", "3.14", "e.g.", "l’heure", "qu'il", "L'", "d’", "the", "Well", "on my", "   ",
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_last_words_of_any_text_are_those_of_python(node, language):
    rng = random.Random(7)
    texts = ["".join(rng.choices(PIECES, k=rng.choice([1, 2, 3, 5, 9, 300]))) for _ in range(3000)]
    texts += [character * count for character in ("a", "a ", "😀", "😀 ") for count in (127, 128, 129, 255, 256, 257)]
    said = {"texts": texts, "tail": TAIL, "elisions": ELISIONS.get(language, ())}
    done = run_script(node, LAST_WORDS, json.dumps(said))
    assert done.stderr == ""
    for text, words in zip(texts, json.loads(done.stdout), strict=True):
        assert words == last_words(text, language), repr(text)


VOCABULARY = """
import { Typing } from "./src/typing.js"; import { Vocabulary } from "./src/vocabulary.js";
import { readFileSync } from "node:fs";
const { uses, file, days, letters, typed_as: typedAs, constants } = JSON.parse(readFileSync(0, "utf-8"));
const day = (text) => new Date(`${text}T12:00`);
const words = Vocabulary.from(file, constants);
for (const [word, count, used] of uses) words.learn(word, count, day(used));
const bytes = days.map((today) => words.bytes(day(today)));
const { tree } = words.lookUp(letters, new Typing(letters, typedAs), day(days[0]));
const names = ["children", "labels", "endings", "words", "best"];
const arrays = Object.fromEntries(names.map((name) => [name, [...tree[name]]]));
const saved = words.toJSON();
console.log(JSON.stringify({ bytes, arrays, saved, forgot: [words.forget("taigang"), words.forget("taigang")] }));
"""


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_own_words_count_and_fade_as_in_python_and_have_one_file(node, tmp_path, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    first = [("Taigang", 1, "2026-03-01"), ("taigang", 2.5, "2026-05-01"), ("it's", 3e9, "2020-01-01")]
    then = [
        ("taigang", 1, "2026-08-01"),
        ("cafe\u0301", 1, "2026-08-02"),
        ("its", 4, "2026-07-01"),
        ("日本", 1, "2026-07-01"),
    ]
    letters, days = tuple("qwertyuiopasdfghjklzxcvbnm"), ["2026-08-02", "2026-12-24", "2025-01-01"]
    known = Vocabulary()
    for word, count, used in first:
        known.learn(word, count, date.fromisoformat(used))
    known.save(tmp_path / "own.json")
    said = {"uses": then, "file": json.loads((tmp_path / "own.json").read_text()), "days": days, "letters": letters}
    constants = {
        "width": 32, "words": 9, "longest": MAX_WORD,
        "first": FIRST, "decade": DECADE, "highest": HIGHEST, "half_life": HALF_LIFE,
        "max_count": MAX_COUNT,
    }  # fmt: skip
    done = run_script(node, VOCABULARY, json.dumps(said | {"typed_as": TYPED_AS, "constants": constants}))
    assert done.stderr == ""
    found = json.loads(done.stdout)
    for word, count, used in then:
        known.learn(word, count, date.fromisoformat(used))
    for day, bytes_ in zip(days, found["bytes"], strict=True):
        assert bytes_ == pytest.approx(known.bytes(date.fromisoformat(day)).tolist())
    trie = known.trie(letters, date.fromisoformat(days[0]))
    assert found["arrays"] == {name: getattr(trie, name).tolist() for name in found["arrays"]}
    assert found["forgot"] == [True, False]
    (tmp_path / "again.json").write_text(json.dumps(found["saved"]))
    again = Vocabulary.load(tmp_path / "again.json")
    assert again.words == known.words
    np.testing.assert_allclose(again.bytes(), known.bytes())


BAD_OWN = """
import { Vocabulary } from "./src/vocabulary.js"; import { readFileSync } from "node:fs";
const said = JSON.parse(readFileSync(0, "utf-8"));
const constants = { words: 2, longest: 48, max_count: 1e6, half_life: 90 };
function refusal(data) {
  try { Vocabulary.from(data, constants); } catch (error) { return `${error.constructor.name}: ${error.message}`; }
  return "";
}
console.log(JSON.stringify(said.map(refusal)));
"""


def test_a_damaged_file_of_own_words_is_refused(node):
    use = {"count": 1, "used": "2026-01-01"}
    bad = {
        "null": "has version undefined; this reads 1",
        '{"version": 2, "words": {}}': "has version 2; this reads 1",
        '{"version": 1, "words": []}': "no object of words",
        json.dumps({"version": 1, "words": {"a": use, "b": use, "c": use}}): "more than 2 words",
        json.dumps({"version": 1, "words": {"two words": use}}): '"two words" is not a word',
        json.dumps({"version": 1, "words": {"123": use}}): '"123" is not a word',
        json.dumps({"version": 1, "words": {"a": 3}}): "must have a count and a day",
        json.dumps({"version": 1, "words": {"a": use | {"more": 1}}}): "and nothing else",
        json.dumps({"version": 1, "words": {"a": {"count": 1, "used": "2026-13-01"}}}): "must have a count and a day",
        json.dumps({"version": 1, "words": {"a": {"count": 0, "used": "2026-01-01"}}}): "number above 0, got 0",
        json.dumps({"version": 1, "words": {"a": {"count": "1", "used": "2026-01-01"}}}): "number above 0, got 1",
    }
    done = run_script(node, BAD_OWN, json.dumps([json.loads(text) for text in bad]))
    for why, said in zip(bad.values(), json.loads(done.stdout), strict=True):
        assert said.startswith("VocabularyError: ")
        assert why in said


TYPED = """
import { Typing } from "./src/typing.js"; import { readFileSync } from "node:fs";
const { words, letters, typed_as: typedAs } = JSON.parse(readFileSync(0, "utf-8"));
const typing = new Typing(letters, typedAs);
console.log(JSON.stringify(words.map((word) => typing.word(word).map((label) => letters[label]))));
"""


@pytest.mark.parametrize("letters", ["abcdefghijklmnopqrstuvwxyz", "йцукенгшщзхъфывапролджэячсмитьбюё", "asdfø'äß"])
def test_every_character_is_typed_as_in_python(node, letters):
    """All that Unicode had in both versions: a newer one only adds."""
    words = [chr(code) for code in range(0x3000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    words += ["Café's", "Straße", "ÆØÅ", "ﬁn", "Ёлка", "İstanbul", "½", "😀a"]
    said = {"words": words, "letters": list(letters), "typed_as": TYPED_AS}
    done = run_script(node, TYPED, json.dumps(said))
    assert done.stderr == ""
    for word, typed in zip(words, json.loads(done.stdout), strict=True):
        assert tuple(typed) == typed_letters(word, frozenset(letters)), repr(word)


DECODE = """
import * as ort from "onnxruntime-web/wasm"; import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs"; import { Keyboard } from "./src/keyboard.js";
const read = async (name) => new Uint8Array(await readFile(`${process.argv[1]}/${name}`)).buffer;
ort.env.wasm.numThreads = 1;
const keyboard = await Keyboard.load(read, ort);
const { points, word, more } = JSON.parse(readFileSync(0, "utf-8"));
const look = async (...rest) => {
  const found = await keyboard.decode(points, 20, ...rest);
  const { literal } = found.find((one) => one.word === word) ?? {};
  return { words: found.map((one) => one.word), literal, none: found.none };
};
const refusal = async (call) => { try { await call(); } catch (error) { return error.message; } return ""; };
const before = await look();
keyboard.learn(word);
const learned = await look();
const tapped = await look(null, { prefix: word.slice(0, 2), suffix: word.slice(-1) });
const forgot = keyboard.forget(word);
const errors = [await refusal(() => look(null, { prefix: "7" })), await refusal(() => keyboard.learn("日本"))];
const after = await look();
for (const other of more) keyboard.learn(other);
console.log(JSON.stringify({ before, learned, tapped, forgot, after, errors, many: await look() }));
"""


def test_a_word_in_no_list_is_read_learned_and_forgotten(node, bundle):
    keyboard = read_bundle(bundle).keyboard
    gesture = swipe("teagan", keyboard.layout, np.random.default_rng(3), 0.2)
    points = np.column_stack([gesture.x, gesture.y, gesture.t]).tolist()
    more = sorted({"".join(some) for some in itertools.permutations("teagan", 5)})  # more than the beam keeps
    said = {"points": points, "word": "teagan", "more": more}
    done = run_script(node, DECODE, json.dumps(said), bundle)
    assert done.stderr == ""
    said = json.loads(done.stdout)
    assert said["before"]["literal"] is True
    assert said["before"]["words"] == [one.word for one in keyboard.decode(points, 20)]
    assert said["before"]["none"] == pytest.approx(keyboard.decode(points, 20).none, abs=1e-3)
    keyboard.learn("teagan")
    assert said["learned"]["literal"] is False
    assert said["learned"]["words"] == [one.word for one in keyboard.decode(points, 20)]
    assert said["tapped"]["words"] == [one.word for one in keyboard.decode(points, 20, None, "te", "n")]
    assert said["forgot"] is keyboard.forget("teagan") is True
    assert said["after"] == said["before"]
    assert said["errors"][0].startswith('"7" is not on the layout')
    assert said["errors"][1] == '"日本" has no letter of the layout'
    for word in more:
        keyboard.learn(word)
    assert said["many"]["words"] == [one.word for one in keyboard.decode(points, 20)]


def test_literals_without_their_table_are_refused(node, bundle, tmp_path):
    folder = Path(shutil.copytree(bundle, tmp_path / "bad", symlinks=True))
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | {"fluency": None}), encoding="utf-8")
    assert "the manifest names no fluency" in check_in_node(node, folder)[2]
    manifest["fluency"]["order"] = 3
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert "the fluency has 531441 bytes, not 19683" in check_in_node(node, folder)[2]
