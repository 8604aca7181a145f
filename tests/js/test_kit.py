"""A kit in Node: any layout in any of its languages decodes as Python does, and what is wrong with it is said."""

import base64
import gzip
import json

import numpy as np
import pytest
import wordfreq
from js.running import OPEN_KIT, run_script, write_kit

import glissando
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon, join_lexicons
from glissando.synth import swipe
from glissando.web.decoding import Keyboards
from glissando.web.models import CustomLayout

# The keys are not in the order of their letters, and e is there twice.
MINE = Layout.from_rows("mine", ["pyfgcrl", "aoeuidhtns", "qjkxbmwvze"], language="en")
DECODE = (
    OPEN_KIT
    + """
const rows = [];
for (const { layout, codes, swipes } of said) {
  const keyboard = await kit.keyboard(layout, codes);
  const found = [];
  for (const { points, context } of swipes) found.push(await keyboard.decode(points, 5, context));
  rows.push(found.map((one) => ({ none: one.none, candidates: [...one] })));
}
console.log(JSON.stringify(rows));
"""
)


@pytest.fixture(scope="module")
def words(lists):
    common = {word: 1 / (rank + 1) for rank, word in enumerate(wordfreq.top_n_list("ru", 500)) if word > "а"}
    return lists | {"ru": Lexicon.from_counts(common, name="ru", language="ru")}


@pytest.fixture(scope="module")
def kit(node, words, tmp_path_factory):
    return write_kit(tmp_path_factory.mktemp("kit"), [load_layout("qwerty"), load_layout("jcuken")], words)


def swipes_of(texts, layout, seed):
    """Swipes of some words, each after a text."""
    rng = np.random.default_rng(seed)
    made = [(swipe(word, layout, rng, 0.25), context) for word, context in texts]
    return [{"points": np.column_stack([one.x, one.y, one.t]).tolist(), "context": text} for one, text in made]


TEXTS = [("hello", ""), ("people", None), ("their", "they sold"), ("that's", "I think"), ("been", "it has")]
RUSSIAN = [("привет", ""), ("сейчас", "что"), ("человек", None)]


def test_keyboards_of_a_kit_decode_as_python_does(node, kit, words):
    asked = [
        ("qwerty", load_layout("qwerty"), ["en"], TEXTS),
        ("jcuken", load_layout("jcuken"), ["ru"], RUSSIAN),
        (MINE.to_dict(), MINE, ["en"], TEXTS),
        ("qwerty", load_layout("qwerty"), ["de", "en"], TEXTS),
    ]
    said, keyboards = [], []
    for name, layout, codes, texts in asked:
        keyboards.append(glissando.load(layout, lexicon=join_lexicons([words[code] for code in codes])))
        said.append({"layout": name, "codes": codes, "swipes": swipes_of(texts, layout, len(said))})
    done = run_script(node, DECODE, json.dumps(said), kit)
    assert done.stderr == ""
    for keyboard, one, rows in zip(keyboards, said, json.loads(done.stdout), strict=True):
        for asked_for, row in zip(one["swipes"], rows, strict=True):
            expected = keyboard.decode(asked_for["points"], 5, asked_for["context"])
            assert [each["word"] for each in row["candidates"]] == [each.word for each in expected]
            assert [each["language"] for each in row["candidates"]] == [each.language for each in expected]
            assert row["none"] == pytest.approx(expected.none, abs=1e-3)
            for got, each in zip(row["candidates"], expected, strict=True):
                assert (got["letters"], got["frequency"], got["literal"]) == (
                    each.letters,
                    each.frequency,
                    each.literal,
                )
                assert got["score"] == pytest.approx(each.score, abs=1e-3)
                assert got["probability"] == pytest.approx(each.probability, abs=1e-3)


SHARE = (
    OPEN_KIT
    + """
const reads = [];
const { read } = kit;
kit.read = (name) => { reads.push(name); return read(name); };
const [first, second] = await Promise.all([kit.keyboard("qwerty", ["en"]), kit.keyboard(said.layout, ["en"])]);
const again = await kit.keyboard({ ...said.layout, keys: [...said.layout.keys].reverse() }, ["en"]);
const answers = await Promise.all([first, second, first, second].map((one) => one.decode(said.points, 1)));
const own = Vocabulary.from({ version: 1, words: {} }, kit.index.constants.vocabulary);
for (const one of [first, second]) one.vocabulary = own;
first.learn("taigang");
console.log(JSON.stringify({
  reads: reads.sort(), trie: again.trie === second.trie,
  own: [first.has("Taigang"), second.has("TAIGANG"), again.has("taigang")],
  has: ["people", "People", "peopel", "日本", ""].map((word) => first.has(word)),
  answers: answers.map(([best]) => best.word),
}));
"""
)


def test_keyboards_share_networks_words_and_tries(node, kit):
    layout = load_layout("qwerty")
    points = swipes_of([("people", None)], layout, 0)[0]["points"]
    # The same letters on other keys: i and o, which "people" needs, change places with q and z.
    swapped = {"i": "q", "q": "i", "z": "x", "x": "z"}
    keys = [vars(key) | {"letter": swapped.get(key.letter, key.letter)} for key in layout.keys]
    said = {"points": points, "layout": {"keys": keys, "aspect": layout.aspect}}
    done = run_script(node, SHARE, json.dumps(said), kit)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert found["reads"] == ["en.context.gz", "en.words.gz", "encoder.onnx.gz", "matcher.onnx.gz"]
    assert found["trie"] is True  # in any order of its keys
    assert found["own"] == [True, True, False]
    assert found["has"] == [True, True, False, False, False]
    assert found["answers"] == ["people"] * 4


def test_keys_of_own_layouts_are_in_the_order_of_the_server(node, kit):
    """Both sort them, so that all arrangements of the same letters share one trie."""
    script = (
        OPEN_KIT
        + "console.log(JSON.stringify((await kit.keyboard(said, ['en'])).layout.keys.map((key) => key.letter)))"
    )
    done = run_script(node, script, json.dumps(MINE.to_dict()), kit)
    served = Keyboards.layout(None, CustomLayout(name="mine", rows=["pyfgcrl", "aoeuidhtns", "qjkxbmwvze"]))
    assert json.loads(done.stdout) == list(served.letters)


# Networks that are never run need no runtime.
REFUSE = """
import { readFileSync } from "node:fs"; import { openKit } from "./src/kit.js";
const create = async (model) => { if (model.length < 100) throw new Error("no model"); return {}; };
const ort = { InferenceSession: { create }, Tensor: class {} };
const found = [];
for (const { layout, codes, files } of JSON.parse(readFileSync(0, "utf-8"))) {
  const whole = (name) => readFileSync(`${process.argv[1]}/${name}`);
  const bytes = (name) => (name in files ? Buffer.from(files[name], "base64") : whole(name));
  try {
    await (await openKit(async (name) => new Uint8Array(bytes(name)).buffer, ort)).keyboard(layout, codes);
    found.push("");
  } catch (error) { found.push(`${error.constructor.name}: ${error.message}`); }
}
console.log(JSON.stringify(found));
"""


def refusals(node, folder, asked):
    """What a kit says to (layout, languages, {name: content of a file instead of its own})."""
    said = [
        {"layout": layout, "codes": codes, "files": {k: base64.b64encode(v).decode() for k, v in files.items()}}
        for layout, codes, files in asked
    ]
    done = run_script(node, REFUSE, json.dumps(said), folder)
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_what_cannot_be_made_is_refused_in_a_sentence(node, kit, words):
    keys = MINE.to_dict()["keys"]
    asked = {
        'KitError: no language "xx"; there are de, en, ru': ("qwerty", ["xx"]),
        'KitError: no language "__proto__"; there are de, en, ru': ("qwerty", ["__proto__"]),
        "KitError: a keyboard has one to 3 different languages, not en, en": ("qwerty", ["en", "en"]),
        "KitError: a keyboard has one to 3 different languages, not none": ("qwerty", []),
        'KitError: no layout "qwertz2"; there are jcuken, qwerty': ("qwertz2", ["en"]),
        'KitError: language "ru" cannot be typed with the letters qwertyuiopasdfghjklzxcvbnm: '
        f"of its {len(words['ru'])} words 0 have a letter there": ("qwerty", ["ru"]),
        'KitError: language "en" cannot be typed with the letters йцукенгшщзхфывапролджэячсмитьбю: '
        "of its 4000 words 0 have a letter there": ("jcuken", ["ru", "en"]),
        "KitError: a layout has 1 to 64 keys, not 0": (None, ["en"]),
        "KitError: a layout has 1 to 64 keys, not 10000": ({"keys": [keys[0]] * 10_000, "aspect": 1}, ["en"]),
        "KitError: a key of a layout carries one letter": ({"keys": [keys[0] | {"letter": "ab"}]}, ["en"]),
        'KitError: key "p" of the layout needs numbers cx, cy, rx and ry': ({"keys": [keys[0] | {"cx": "0"}]}, ["en"]),
        "KitError: a layout needs an aspect, its height over its width": ({"keys": keys}, ["en"]),
    }  # fmt: skip
    assert refusals(node, kit, [(*one, {}) for one in asked.values()]) == list(asked)


def test_a_damaged_kit_is_refused_in_a_sentence(node, kit):
    words, index = (kit / "en.words.gz").read_bytes(), json.loads((kit / "index.json").read_text(encoding="utf-8"))
    middle = len(words) // 2
    flipped = words[:middle] + bytes([words[middle] ^ 1]) + words[middle + 1 :]
    damaged = [
        ("en.words.gz", words[:-5], "en.words.gz is damaged: it cannot be decompressed"),
        ("en.words.gz", flipped, "en.words.gz is damaged: it cannot be decompressed"),
        ("en.words.gz", gzip.compress(b"glswords"), 'the words of "en" are no word list'),
        ("en.context.gz", gzip.compress(b"nothing"), "this is no context file"),
        ("encoder.onnx.gz", gzip.compress(b"nothing"), "the networks cannot be run: no model"),
        ("index.json", b"{", "index.json is damaged: it is not JSON"),
        ("index.json", json.dumps(index | {"format": "x"}).encode(), "index.json is not a kit's"),
        ("index.json", json.dumps(index | {"version": 2}).encode(), "the kit has version 2; this reads 1"),
    ]
    said = refusals(node, kit, [("qwerty", ["en"], {name: data}) for name, data, _ in damaged])
    for (_, _, why), sentence in zip(damaged, said, strict=True):
        assert sentence.startswith(f"KitError: {why}")


def test_a_file_that_the_web_server_has_decompressed_is_read(node, kit):
    words = gzip.decompress((kit / "en.words.gz").read_bytes())
    assert refusals(node, kit, [("qwerty", ["en"], {"en.words.gz": words})]) == [""]
