"""Node beside the JavaScript package: what the tests of the port share."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from glissando.export.bundle import write_bundle
from glissando.export.kit import Kit
from glissando.layout import Layout
from glissando.lexicon import Lexicon
from glissando.synth import swipe
from glissando.weights import load_weights

PACKAGE = Path(__file__).resolve().parents[2] / "js"
# A few hundred common words, with what ports stumble over: capitals, accents, apostrophes, words typed alike.
ODD = ["it's", "its", "don't", "I'm", "café", "Berlin", "naïve", "o'clock", "well", "we'll", "were", "we're"]
# Keys of two sizes, even in number, a letter twice.
TWICE = Layout.from_rows("twice", ["qwertyuiop", "asdfeghjkl", "zxcvbnm "], pitch=[1, 1, 1.2])


def find_node():
    """Node, if onnxruntime-web is installed beside the package."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("Node is not installed (Debian: nodejs)")
    if not (PACKAGE / "node_modules" / "onnxruntime-web").is_dir():
        pytest.skip("onnxruntime-web is not installed: npm install --prefix js")
    return program


def run_script(node, script, said="", folder="."):
    """Run a script in the package; its files come from a folder, what it is told from its input."""
    command = [node, "--input-type=module", "-e", script, str(folder)]
    return subprocess.run(command, cwd=PACKAGE, input=said, capture_output=True, encoding="utf-8", check=False)


def check_in_node(node, folder):
    """(exit code, report, errors) of the package's own check."""
    command = [node, "check.mjs", str(folder)]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr


def lexicon():
    """A few hundred English words with their counts."""
    import wordfreq

    words = [*wordfreq.top_n_list("en", 400), *ODD]
    return {word: 1e6 / (rank + 1) for rank, word in enumerate(words) if word.replace("'", "").isalpha()}


def export(keyboard, folder, swipes):
    """A bundle of a keyboard."""
    write_bundle(keyboard, folder, swipes=swipes)
    return folder


def first_words(code, count=4000):
    """The most frequent words of a language."""
    whole = Lexicon.from_language(code)
    return Lexicon(code, code, tuple(whole.words[at] for at in range(count)), whole.frequencies[:count])


def write_kit(folder, layouts, lexicons):
    """A kit of some layouts and word lists, with the packaged networks and contexts, and without a runtime."""
    networks = load_weights("encoder"), load_weights("matcher")
    kit = Kit({one.name: one for one in layouts}, tuple(lexicons), *networks, lexicons=lexicons)
    for name in kit.names:
        (folder / name).write_bytes(kit.file(name))
    return folder


# Begins a script that asks a keyboard of a kit.
OPEN_KIT = """
import * as ort from "onnxruntime-web/wasm"; import { readFileSync } from "node:fs";
import { openKit } from "./src/kit.js"; import { Vocabulary } from "./src/vocabulary.js";
const said = JSON.parse(readFileSync(0, "utf-8"));
ort.env.wasm.numThreads = 1;
const kit = await openKit(async (name) => new Uint8Array(readFileSync(`${process.argv[1]}/${name}`)).buffer, ort);
"""


def ask_kit(node, folder, script, said):
    """What a script answers that asks a kit."""
    done = run_script(node, OPEN_KIT + script, json.dumps(said), folder)
    assert done.stderr == ""
    return json.loads(done.stdout)


def swipe_points(word, layout, seed, noise=0.2):
    """A swipe as the page sends it."""
    gesture = swipe(word, layout, np.random.default_rng(seed), noise)
    return np.column_stack([gesture.x, gesture.y, gesture.t]).round(5).tolist()
