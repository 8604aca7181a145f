"""Word lists of a kit in Node: read, joined, typed, grown into tries and counted letter by letter as in Python."""

import base64
import gzip
import hashlib
import json
import struct

import numpy as np
import pytest
from js.running import first_words, run_script

from glissando.export.constants import page_constants
from glissando.export.kit import word_bytes
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon, join_lexicons
from glissando.literal import build_fluency
from glissando.trie import build_trie

MAKE = """
import { createHash } from "node:crypto"; import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { growTree } from "./src/grow.js"; import { joinLexicons, readLexicon } from "./src/lexicon.js";
import { buildFluency } from "./src/literal.js"; import { Typing } from "./src/typing.js";
const { codes, letters, constants } = JSON.parse(readFileSync(0, "utf-8"));
const file = (code) => gunzipSync(readFileSync(`${process.argv[1]}/${code}.words.gz`));
const read = (code) => readLexicon(new Uint8Array(file(code)).buffer, code);
const lexicon = joinLexicons(codes.map(read));
const spelled = new Typing(letters, constants.typed_as).lexicon(lexicon);
const trie = growTree(letters, spelled, lexicon.frequencies);
const { costs, order } = buildFluency(lexicon, spelled, letters.length, constants.fluency);
const hash = (array) => createHash("sha256").update(array).digest("hex");
const names = ["children", "labels", "depths", "parents", "endings", "words", "best"];
const sample = Array.from({ length: 200 }, (_, i) => (i * 7919) % lexicon.length).map((index) => lexicon.word(index));
console.log(JSON.stringify({
  arrays: Object.fromEntries(names.map((name) => [name, hash(trie[name])])),
  words: hash(lexicon.text), frequencies: hash(lexicon.frequencies), rows: (lexicon.byLanguage ?? []).map(hash),
  order, costs: Buffer.from(costs).toString("base64"), languages: lexicon.languages, sample,
  found: sample.map((word) => lexicon.find(word)),
  missing: ["", "zzzzqqq", "\\u{10ffff}", "a a"].map((word) => lexicon.find(word)),
}));
"""


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def write_words(folder, lexicons):
    for one in lexicons:
        (folder / f"{one.language}.words.gz").write_bytes(gzip.compress(word_bytes(one), 1))


TWICE = Layout.from_rows("twice", ["qwertyuiop", "asdfeghjkl", "zxcvbnm "])
OWN = Layout.from_rows("own", ["äöüßqwertz", "asdfghjklé", "yxcvbnm'"])
MANY = Layout.from_rows("many", ["йцукенгшщзхъ", "фывапролджэ", "ячсмитьбюё", "qwertyuiop"])  # grams of three letters


@pytest.mark.parametrize(
    ("layout", "codes", "count"),
    [
        ("qwerty", ["en"], None),
        ("jcuken", ["ru"], 40_000),
        (TWICE, ["en"], 5000),
        (OWN, ["de"], 5000),
        (OWN, ["de", "en", "fr"], 5000),
        (MANY, ["ru", "en"], 3000),
    ],
)
def test_a_lexicon_its_trie_and_its_letters_are_those_of_python(node, tmp_path, layout, codes, count):
    lists = [first_words(code, count) if count else Lexicon.from_language(code) for code in codes]
    write_words(tmp_path, lists)
    letters = tuple(load_layout(layout).keys_of)
    said = {"codes": codes, "letters": letters, "constants": page_constants()}
    done = run_script(node, MAKE, json.dumps(said), tmp_path)
    assert done.stderr == ""
    found, lexicon = json.loads(done.stdout), join_lexicons(lists)
    assert found["languages"] == codes
    assert found["words"] == hashlib.sha256("".join(lexicon.words).encode()).hexdigest()
    assert found["frequencies"] == digest(lexicon.frequencies)
    assert found["rows"] == [digest(row) for row in (() if lexicon.by_language is None else lexicon.by_language)]
    assert [lexicon.words[index] for index in found["found"]] == found["sample"]
    assert found["missing"] == [-1, -1, -1, -1]
    trie = build_trie(lexicon, letters)
    assert found["arrays"] == {name: digest(getattr(trie, name)) for name in found["arrays"]}
    fluency = build_fluency(lexicon, letters)
    costs = np.frombuffer(base64.b64decode(found["costs"]), dtype=np.uint8)
    gaps = np.abs(costs.astype(int) - fluency.costs)
    assert (found["order"], len(costs)) == (fluency.order, len(fluency.costs))
    assert (gaps.max(), np.count_nonzero(gaps)) <= (1, 5)  # sums in another order may round a byte to its neighbour


REFUSE = """
import { readFileSync } from "node:fs"; import { readLexicon } from "./src/lexicon.js";
const refusal = (text) => {
  try { readLexicon(new Uint8Array(Buffer.from(text, "base64")).buffer, "xx"); } catch (error) {
    return `${error.constructor.name}: ${error.message}`;
  }
  return "";
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map(refusal)));
"""


def test_a_damaged_list_is_refused(node):
    whole = word_bytes(first_words("en", 50))
    bad = {
        b"": "are no word list",
        whole[:7] + b"?" + whole[8:]: "are no word list",
        whole[:8] + struct.pack("<I", 2) + whole[12:]: "have version 2; this reads 1",
        whole[:12] + struct.pack("<I", 0) + whole[16:]: "are damaged: they are cut short",
        whole[:12] + struct.pack("<I", 2**31) + whole[16:]: "are damaged: they are cut short",
        whole[:12] + struct.pack("<I", 49) + whole[16:]: "are damaged",
        whole[:-1]: "are damaged at word 49",
        whole + b"\1": "are damaged: bytes follow the last word",
        whole[:66] + b"\3" + whole[67:]: "are damaged at word 0",
    }
    done = run_script(node, REFUSE, json.dumps([base64.b64encode(data).decode() for data in bad]))
    assert done.stderr == ""
    for why, said in zip(bad.values(), json.loads(done.stdout), strict=True):
        assert said.startswith('LexiconError: the words of "xx" ')
        assert why in said
