"""Node beside the JavaScript package: what the tests of the port share."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from glissando.export.bundle import write_bundle

PACKAGE = Path(__file__).resolve().parents[2] / "js"
# A few hundred common words, with what ports stumble over: capitals, accents, apostrophes, words typed alike.
ODD = ["it's", "its", "don't", "I'm", "café", "Berlin", "naïve", "o'clock", "well", "we'll", "were", "we're"]


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
