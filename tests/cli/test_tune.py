"""glissando tune."""

import json

import numpy as np
import pytest
from command import lines, refused, run

from glissando.evaluation import fit
from glissando.layout import load_layout
from glissando.scoring import Scoring, load_scoring
from glissando.synth import swipe

WORDS = ("to", "too", "tie", "the", "for", "foe", "fir", "got", "hot", "hit", "rot", "word", "swipe", "path")
SHARK2 = ("tune", "mine.jsonl", "--lexicon", "words.txt", "--method", "shark2", "--trials-scoring", "20")


def write_corpus(path, count, words=WORDS, layout="qwerty"):
    rng, rows = np.random.default_rng(0), []
    for i in range(count):
        gesture = swipe(words[i % len(words)], load_layout(layout), rng)
        columns = {name: getattr(gesture, name).round(4).tolist() for name in ("x", "y", "t")}
        rows.append({"word": words[i % len(words)], "layout": layout, **columns})
    path.write_bytes(lines(rows))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with a corpus of 120 swipes and a lexicon, and the process in it."""
    write_corpus(tmp_path / "mine.jsonl", 120)
    (tmp_path / "words.txt").write_text("".join(f"{word} {10**i}\n" for i, word in enumerate(WORDS, 1)))
    (tmp_path / "few.txt").write_text("the\ntoo\n")
    (tmp_path / "bare.json").write_text('{"scoring": {"length_bonus": 5.5}}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tuned(*arguments):
    """The JSON that a tuning prints."""
    result = run(*arguments, "--json")
    assert result.code == 0, result
    return json.loads(result.out)


def test_the_encoder_is_tuned_to_a_file_that_decoding_reads(folder):
    options = ("tune", "mine.jsonl", "--lexicon", "words.txt", "--trials-pruning", 4,
               "--beam", 5, "--out", "tuned.json")  # fmt: skip
    result = tuned(*options, "--plot", "pictures")
    assert json.loads((folder / "tuned.json").read_text()) == result
    assert load_scoring(folder / "tuned.json") == Scoring(**result["scoring"])
    before, after = (result["metrics"][when]["mean"] for when in ("before", "after"))
    assert after["recall"] >= before["recall"]
    assert after["cross_entropy"] < before["cross_entropy"]
    provenance = result["provenance"]
    assert provenance["command"].startswith("glissando tune mine.jsonl")
    assert (provenance["protocol"], list(provenance["trials"]), provenance["seed"]) == ("fit", ["pruning"], 0)
    assert provenance["corpora"][0]["swipes"] == 120
    assert (folder / "tuned.study.log").exists()
    pictures = {f"pruning_{what}.{form}" for what in ("history", "response") for form in ("png", "svg")}
    assert {file.name for file in (folder / "pictures").iterdir()} == pictures
    # One constant alone: the others keep the values they begin with.
    alone = tuned(*options, "--stage", "scoring", "--constants", "length_bonus", "--scoring", "report")["scoring"]
    assert alone | {"length_bonus": 0, "temperature": 0} == Scoring().to_dict() | {"length_bonus": 0, "temperature": 0}


def test_the_reports_protocol_maximises_tt1mm5(folder):
    result = tuned("tune", "mine.jsonl", "--lexicon", "words.txt", "--beam", 5,
                   "--protocol", "report", "--scoring", "bare.json", "--stage", "scoring", "--trials-scoring", 30,
                   "--storage", "sqlite:///study.db")  # fmt: skip
    before, after = (result["metrics"][when]["mean"]["tt1mm5"] for when in ("before", "after"))
    assert after > before
    assert result["provenance"]["trials"]["scoring"] >= 30
    assert result["scoring"]["location_weight"] == 0
    assert (folder / "study.db").exists()


def test_shark2_is_tuned_and_the_same_command_reads_the_finished_study(folder):
    first = run(*SHARK2, "--out", "shark2.json")
    assert first.code == 0, first
    assert "20 trials; best" in first.out
    result = json.loads((folder / "shark2.json").read_text())
    reached = result["metrics"]["after"]["mean"]["tt1mm5"]
    assert reached >= result["metrics"]["before"]["mean"]["tt1mm5"]
    options = ("mine.jsonl", "--lexicon", "words.txt", "--method", "shark2", "--scoring", "shark2.json")
    evaluated = json.loads(run("evaluate", *options, "--json").out)
    assert evaluated["overall"]["tt1mm5"] == pytest.approx(reached)
    assert run("decode", *options).out.count("\n") == 120
    assert "20 trials, 20 of them made before" in run(*SHARK2, "--out", "shark2.json").out
    assert json.loads((folder / "shark2.json").read_text())["shark2"] == result["shark2"]
    write_corpus(folder / "mine.jsonl", 119)  # another corpus is another study
    assert "made before" not in run(*SHARK2, "--out", "shark2.json").out


def test_corpora_with_lexicons_of_their_own_are_mixed(folder):
    russian = ("это", "как", "так", "все", "она", "они", "его")
    write_corpus(folder / "ru.jsonl", 105, russian, "jcuken")
    (folder / "ru.txt").write_text("\n".join(russian))
    result = tuned("tune", "mine.jsonl=words.txt", "ru.jsonl=ru.txt", *SHARK2[4:])
    assert [corpus["lexicon"] for corpus in result["provenance"]["corpora"]] == ["words.txt", "ru.txt"]
    after = result["metrics"]["after"]
    assert after["mean"]["tt1mm5"] == pytest.approx(np.mean([row["tt1mm5"] for row in after["corpora"].values()]))


def test_an_interrupted_tuning_says_so_and_resumes(folder, monkeypatch):
    calls, measure = [], fit.mean_tt1mm5

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return measure(*arguments)

    monkeypatch.setattr(fit, "mean_tt1mm5", interrupted)
    stopped = run(*SHARK2)
    assert (stopped.code, stopped.err) == (130, "glissando: interrupted; the same command resumes\n")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert "20 trials, 7 of them made before" in run(*SHARK2).out


def test_a_weight_is_set_without_swipes(folder):
    (folder / "begin.json").write_text(
        json.dumps({"scoring": Scoring().to_dict(), "label_free": {"frequency_weight": 0.01}})
    )
    options = ("tune", "--label-free", "qwerty", "--lexicon", "words.txt", "--language", "tok")
    first = run(*options, "--scoring", "begin.json", "--out", "free.json")
    assert first.code == 0, first
    assert first.out.startswith("frequency_weight 0.05 -> ")
    assert "wrote free.json" in first.out
    # From where it has arrived it goes nowhere: the ratio is one.
    again = load_scoring(tuned(*options, "--scoring", "free.json", "--out", "again.json"))
    assert again.frequency_weight == pytest.approx(load_scoring(folder / "free.json").frequency_weight, rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "tune needs corpora, or --label-free LAYOUT in their place"),
        (["mine.jsonl", "--label-free", "qwerty"], "tune needs corpora, or --label-free LAYOUT in their place"),
        (["--label-free", "qwertz2"], "no layout 'qwertz2'"),
        (["--label-free", "qwerty", "--method", "shark2"], "only the encoder's frequency weight"),
        (["--label-free", "qwerty", "--scoring", "bare.json"], "bare.json has no label_free.frequency_weight"),
        ([*SHARK2[1:], "--scoring", "bare.json"], "bare.json holds scoring constants"),
        ([*SHARK2[1:], "--scoring", "en"], "no SHARK2 constants 'en'"),
        ([*SHARK2[1:], "--protocol", "fit"], "SHARK2 is tuned with --protocol report"),
        (["mine.jsonl", "--trials-scoring", "9"], "--trials-scoring needs --protocol report"),
        (["mine.jsonl", "--method", "dtw"], "no method 'dtw'; there are auto, encoder, decoder, matcher, shark2"),
        (["mine.jsonl", "--method", "shark2", "--stage", "pruning"], "shark2 has no pruning stage"),
        (["mine.jsonl", "--constants", "gamma"], "no scoring constant 'gamma' to tune"),
        (["missing.jsonl", "--method", "shark2"], "missing.jsonl"),
        (["mine.jsonl=few.txt", "--method", "shark2"], "words meant are not in lexicon few.txt"),
        (["mine.jsonl", "--out", "nowhere/x.json"], "cannot write nowhere/x.json: no directory nowhere"),
        ([*SHARK2[1:], "--storage", "mine.db"], "no storage 'mine.db'; a storage is sqlite:///FILE"),
    ],
)
def test_bad_input_is_one_clear_line(folder, arguments, message):
    assert message in refused("tune", *arguments)
