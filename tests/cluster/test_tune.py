"""Tuning on a cluster: the workers' beams are those of one machine, to the last bit."""

import copy
import json
import os
import signal
from contextlib import contextmanager
from dataclasses import fields, replace
from importlib import resources

import numpy as np
import pytest
from command import lines, refused, run

from glissando.cluster import connection
from glissando.cluster.tune import ClusterWorkplace
from glissando.corpus.layouts import LayoutShelf
from glissando.errors import ClusterError, WeightsError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.tune import ThisMachine, TuningFile, read_corpus
from glissando.layout import load_layout
from glissando.synth import swipe

WORDS = ("to", "too", "tie", "the", "for", "foe", "fir", "got", "hot", "hit", "rot", "word", "swipe", "path")
HERE = ThisMachine()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A directory with a corpus of 120 swipes, each half with words of its own, and a lexicon."""
    path, rng, rows = tmp_path_factory.mktemp("corpus"), np.random.default_rng(0), []
    for i in range(120):
        word = WORDS[i % 9 + (5 if i >= 60 else 0)]
        gesture = swipe(word, load_layout("qwerty"), rng)
        columns = {name: getattr(gesture, name).round(4).tolist() for name in ("x", "y", "t")}
        rows.append({"word": word, "layout": "qwerty", "sentence": f"the {word}", **columns})
    (path / "mine.jsonl").write_bytes(lines(rows))
    (path / "words.txt").write_text("".join(f"{word} {10**i}\n" for i, word in enumerate(WORDS, 1)))
    return path


@pytest.fixture(scope="module")
def options(folder):
    return EvaluationOptions(method="matcher", lexicon=folder / "words.txt", language="en", beam=4)


@pytest.fixture(scope="module")
def workplace(cluster, options):
    """Both workers of the cluster, until the end of this file."""
    place = ClusterWorkplace(cluster, options)
    yield place
    for worker in place.workers:
        cluster.ray.kill(worker)


def with_options(workplace, options):
    """The same workers for swipes that are decoded otherwise."""
    other = copy.copy(workplace)
    other.evaluation = options
    return other


def swipes(folder, options, count=None):
    part = read_corpus(TuningFile(folder / "mine.jsonl"), LayoutShelf(), options).parts[0]
    return part._replace(**{name: getattr(part, name)[:count] for name in ("gestures", "words", "texts")})


def assert_same(one, other):
    for name in (field.name for field in fields(one)):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert np.array_equal(mine, theirs), name
        assert name == "words" or mine.dtype == theirs.dtype, name


def test_the_command_gives_the_same_constants(cluster, folder, monkeypatch):
    @contextmanager
    def joined(address, workers):
        yield replace(cluster, workers=workers)

    monkeypatch.chdir(folder)
    monkeypatch.setattr(connection, "connect", joined)
    common = ("tune", "mine.jsonl", "--lexicon", "words.txt", "--language", "en", "--trials-pruning", 3, "--beam", 4)
    here = json.loads(run(*common, "--out", "here.json", "--json").out)
    there = json.loads(run(*common, "--out", "there.json", "--json", "--cluster", "auto", "--workers", 1).out)
    assert here["provenance"].pop("command") != there["provenance"].pop("command")
    assert here == there
    assert "name it by --cluster" in refused(*common, "--workers", 3)
    assert "no corpus to divide" in refused("tune", "--label-free", "qwerty", "--cluster", "auto")


def test_the_beams_of_the_shares_together_are_those_of_the_whole(workplace, folder, options):
    part = swipes(folder, options)
    one, many, scoring = HERE.encode(part), workplace.encode(part), part.board.scoring
    assert_same(one.beams(scoring, True), many.beams(scoring, True))
    matched = one.matched_beams(scoring)
    assert matched.asked.any()
    assert matched.gains.any()
    assert_same(matched, many.matched_beams(scoring))
    narrow = scoring.changed({"pruning_exponent": 1.4, "pruning_bonus": -0.9, "pruning_frequency": 0.2})
    assert one.held(narrow).tolist() == many.held(narrow).tolist()
    assert not one.held(narrow).all()
    # A spelling that only the other worker's swipes mean is known all the same: it counts as a wrong answer there.
    joined = many.beams(scoring)
    assert set(joined.spellings[: joined.offsets[60]]) - set(joined.targets[:60]) - {-1}
    # Fewer swipes than workers.
    alone = swipes(folder, options, 1)
    assert_same(HERE.encode(alone).beams(scoring), workplace.encode(alone).beams(scoring))


def test_shark2s_matches_are_those_of_the_whole(workplace, folder, options):
    options = replace(options, method="shark2")
    part = swipes(folder, options)
    assert_same(HERE.match(part), with_options(workplace, options).match(part))


def test_a_worker_that_dies_is_replaced(cluster, workplace, folder, options):
    part = swipes(folder, options)
    many, scoring = workplace.encode(part), part.board.scoring
    pid = cluster.ray.get(workplace.workers[1].__ray_call__.remote(lambda _: os.getpid()))
    os.kill(pid, signal.SIGKILL)
    assert_same(HERE.encode(part).beams(scoring), many.beams(scoring))
    assert cluster.ray.get(workplace.workers[1].__ray_call__.remote(lambda _: os.getpid())) != pid


def test_what_a_worker_cannot_do_is_said_in_one_line(cluster, workplace, folder, options, tmp_path):
    packaged, weights = resources.files("glissando") / "assets" / "weights", tmp_path / "mine.onnx"
    for ending in (".onnx", ".json"):
        weights.with_suffix(ending).write_bytes((packaged / f"encoder{ending}").read_bytes())
    options = replace(options, method="encoder", weights=weights)
    part = swipes(folder, options)
    weights.unlink()  # as on a node that lacks the file
    with pytest.raises(WeightsError, match=r"mine\.onnx"):
        with_options(workplace, options).encode(part)
    with pytest.raises(ClusterError, match="3 workers need as many processors, the cluster has 2"):
        ClusterWorkplace(replace(cluster, workers=3), options)
