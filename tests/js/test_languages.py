"""Languages of a text and their contexts: JavaScript beside Python."""

import json
import unicodedata
from importlib import resources

import numpy as np
import pytest
from js.running import run_script

from glissando.context import load_context
from glissando.export.constants import page_constants
from glissando.languages import Contexts, Languages
from glissando.lexicon import join_lexicons

TEXTS = [
    "", "...", "xyzzy 42", "The", "das Haus", "Das Haus ist groß. Und", "GROSS", "Ich habe the weekend", "e-mail don’t",
    "She said: “ich weiß nicht” and then", "ich " * 100, "aaa" + " the" * 70,
    "😀 the 😀 house", "😀" * 300 + " und das",
    "wir " * 20 + "we are going to the",
    "dieser Satz ist lang genug. This one is in English. Und dieser ist wieder auf",
]  # fmt: skip

LANGUAGES = """
import { readFileSync } from "node:fs"; import { readContext } from "./src/context.js";
import { Contexts, Languages } from "./src/languages.js"; import { Lexicon } from "./src/lexicon.js";
const said = JSON.parse(readFileSync(0, "utf-8"));
const encoded = said.words.map((word) => new TextEncoder().encode(word));
const offsets = Uint32Array.from([0, ...encoded]);
encoded.forEach((bytes, i) => { offsets[i + 1] = offsets[i] + bytes.length; });
const lexicon = new Lexicon({
  languages: said.languages, text: Uint8Array.from(encoded.flatMap((bytes) => [...bytes])), offsets,
  frequencies: Uint8Array.from(said.frequencies), byLanguage: said.rows.map((row) => Uint8Array.from(row)),
});
const languages = new Languages(lexicon, said.constants.languages);
const files = said.files.map((file) => file && new Uint8Array(readFileSync(file)).buffer);
const constants = { ...said.constants.context, elisions: [] };
const contexts = new Contexts(languages, files.map((file) => file && readContext(file, constants)));
const refusal = (call) => {
  try { call(); } catch (error) { return `${error.constructor.name}: ${error.message}`; }
  return "";
};
"""
POSTERIORS = """
const { texts, picked, floors } = said;
console.log(JSON.stringify({
  prior: languages.prior,
  posteriors: texts.map((text) => languages.posterior(text)),
  bytes: texts.map((text, i) => languages.frequencies(picked, languages.posterior(text), floors[i])),
  shifts: texts.map((text, i) => languages.shift([...picked, -1], languages.posterior(text), floors[i])),
  shares: texts.map((text) => languages.shares(picked, languages.posterior(text))),
  codes: texts.map((text) => languages.languageOf([...picked, -1], languages.posterior(text))),
  unknown: languages.posterior(null),
}));
"""
GAINS = """
const { texts, picked } = said;
const look = (outlook) => ({ unseen: outlook.unseen, gains: outlook.gains([...picked, -1]) });
const walk = (text) => {
  const states = [contexts.state(text)];
  for (const word of picked.slice(0, 5)) states.push(contexts.advance(states.at(-1), word));
  return states;
};
console.log(JSON.stringify({
  numbers: said.asked.map((word) => contexts.number(word)),
  outlooks: texts.map((text) => look(contexts.after(text))),
  walks: texts.map((text) => walk(text).map(({ states }) => states)),
  ends: texts.map((text) => look(contexts.follow(contexts.advance(walk(text).at(-1), -1)))),
}));
"""
REFUSALS = """
console.log(JSON.stringify([
  refusal(() => new Languages(lexicon, said.constants.languages, [1, 0])),
  refusal(() => new Languages(lexicon, said.constants.languages, [1])),
  refusal(() => new Contexts(languages, [null])),
  refusal(() => languages.requireTyped({ letters: ["a", "b"], words: said.picked })),
  refusal(() => languages.requireTyped({ letters: ["a", "b"], words: said.words.map((_, word) => word) })),
]));
"""
FOLD = """
import { foldCase } from "./src/typing.js"; import { readFileSync } from "node:fs";
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf-8")).map(foldCase)));
"""


@pytest.fixture(scope="module")
def languages(lists):
    return Languages(join_lexicons(list(lists.values())))


@pytest.fixture(scope="module")
def told(languages):
    """What a script is told of the languages, without contexts."""
    lexicon, picked = languages.lexicon, np.random.default_rng(5).choice(len(languages.lexicon), 200, replace=False)
    return {
        "languages": lexicon.languages, "words": list(lexicon.words), "frequencies": lexicon.frequencies.tolist(),
        "rows": languages.bytes.tolist(), "files": [None, None], "constants": page_constants(),
        "texts": TEXTS, "picked": picked.tolist(),
    }  # fmt: skip


def ask(node, script, said):
    done = run_script(node, LANGUAGES + script, json.dumps(said))
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_the_languages_of_texts_and_words_are_those_of_python(node, languages, told):
    floors = np.random.default_rng(6).choice([0.0, 33.3, 120.0], len(TEXTS)).tolist()
    found = ask(node, POSTERIORS, told | {"floors": floors})
    words = np.array(told["picked"])
    assert found["prior"] == found["unknown"] == pytest.approx(languages.prior.tolist())
    plain = languages.lexicon.frequencies[words]
    for at, (text, floor) in enumerate(zip(TEXTS, floors, strict=True)):
        posterior = languages.posterior(text)
        assert found["posteriors"][at] == pytest.approx(posterior.tolist(), abs=1e-12), repr(text)
        bytes_ = languages.frequencies(words, posterior, floor)
        assert found["bytes"][at] == pytest.approx(bytes_.tolist(), abs=1e-9)
        assert found["shifts"][at] == pytest.approx([*(bytes_ - np.maximum(plain, floor)).tolist(), 0], abs=1e-9)
        assert np.transpose(found["shares"][at]) == pytest.approx(languages.shares(words, posterior), abs=1e-12)
        codes = [*languages.language_of(words, posterior), languages.names[int(posterior.argmax())]]
        assert found["codes"][at] == codes
    assert {round(one[0], 3) for one in found["posteriors"]} > {0.7}  # the texts are of both languages


@pytest.mark.parametrize("given", [("de", "en"), ("de", None), (None, None)], ids=["both", "one", "none"])
def test_contexts_of_several_languages_say_what_python_says(node, languages, told, given):
    contexts = Contexts(languages, tuple(None if code is None else load_context(code) for code in given))
    folder = resources.files("glissando") / "assets" / "contexts"
    files = [None if code is None else str(folder / f"{code}.context") for code in given]
    asked = ["haus", "the", "nowhere", "Die", "und"]
    found = ask(node, GAINS, told | {"files": files, "asked": asked})
    assert found["numbers"] == contexts.number(asked).tolist()
    words = np.array([*told["picked"], -1], dtype=np.int32)
    most = 0.0
    for at, text in enumerate(TEXTS):
        outlook, states = contexts.after(text), [contexts.state(text)]
        for word in told["picked"][:5]:
            states.append(contexts.advance(states[-1], word))
        end = contexts.follow(contexts.advance(states[-1], -1))
        assert found["walks"][at] == [[list(one or ()) for one in state[1]] for state in states]
        for said, expected in ((found["outlooks"][at], outlook), (found["ends"][at], end)):
            assert said["unseen"] == pytest.approx(expected.unseen, abs=1e-9)
            assert said["gains"] == pytest.approx(expected.gains(words).tolist(), abs=1e-9)
        most = max(most, *found["outlooks"][at]["gains"])
    assert (most > 1) == any(given)


def test_what_does_not_fit_is_refused(node, told):
    prior, short, contexts, untyped, typed = ask(node, REFUSALS, told)
    assert prior == "LanguageError: the prior of de, en is 2 positive numbers, got 1, 0"
    assert short == "LanguageError: the prior of de, en is 2 positive numbers, got 1"
    assert contexts == "LanguageError: 1 contexts for the languages de, en"
    assert untyped.startswith('LanguageError: language "de" cannot be typed with the letters ab: of its 4000 words ')
    assert typed == ""


def test_case_is_folded_as_in_python(node):
    """But for Cherokee, whose small letters fold to capitals in Python; words are equal under both."""
    texts = [chr(code) for code in range(0x30000) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    texts = [text for text in texts if not unicodedata.name(text, "").startswith("CHEROKEE")]
    texts += ["Straße", "ΣΑΣ", "İstanbul", "ﬁn", "Ǆ", "I'm"]
    done = run_script(node, FOLD, json.dumps(texts))
    assert done.stderr == ""
    for text, folded in zip(texts, json.loads(done.stdout), strict=True):
        assert folded == text.casefold(), repr(text)
