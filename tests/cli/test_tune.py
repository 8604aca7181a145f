import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from glissando.cli import main
from glissando.layout import load_layout
from glissando.scoring import Scoring, load_scoring
from glissando.synth import swipe

WORDS = ("to", "too", "tie", "the", "for", "foe", "fir", "got", "hot", "hit", "rot", "word", "swipe", "path")


def write_corpus(path, count, words=WORDS, layout="qwerty"):
    rng = np.random.default_rng(0)
    lines = []
    for i in range(count):
        word = words[i % len(words)]
        gesture = swipe(word, load_layout(layout), rng)
        columns = {name: getattr(gesture, name).round(4).tolist() for name in ("x", "y", "t")}
        lines.append(json.dumps({"word": word, "layout": layout, "session": None, **columns}))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with a corpus of 120 swipes and a lexicon, and the process in it."""
    write_corpus(tmp_path / "mine.jsonl", 120)
    (tmp_path / "words.txt").write_text("".join(f"{word} {10**i}\n" for i, word in enumerate(WORDS, 1)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, monkeypatch, *arguments, command="tune"):
    """Exit code, standard output and standard error of a command."""
    monkeypatch.setattr(sys, "argv", ["glissando", command, *map(str, arguments)])
    code = 0
    try:
        main()
    except SystemExit as stop:
        code = stop.code or 0
    captured = capsys.readouterr()
    return code, captured.out, captured.err


SHARK2 = ("mine.jsonl", "--lexicon", "words.txt", "--method", "shark2", "--trials-scoring", "20")


def test_the_encoder_is_tuned_to_a_file_that_decoding_reads(folder, capsys, monkeypatch, tiny_weights):
    code, out, err = run(
        capsys, monkeypatch, "mine.jsonl", "--lexicon", "words.txt", "--weights", tiny_weights, "--trials-pruning", 4,
        "--trials-scoring", 60, "--beam", 5, "--scoring", "report", "--out", "tuned.json", "--plot", "pictures",
        "--json",
    )  # fmt: skip
    assert code == 0, err
    result = json.loads(out)
    assert json.loads((folder / "tuned.json").read_text()) == result
    assert load_scoring(folder / "tuned.json") == Scoring(**result["scoring"])
    before, after = (result["metrics"][when]["mean"] for when in ("before", "after"))
    assert after["recall"] >= before["recall"]
    assert after["tt1mm5"] > before["tt1mm5"]  # random weights, so the report's constants are far from right
    provenance = result["provenance"]
    assert provenance["command"].startswith("glissando tune mine.jsonl")
    assert provenance["trials"]["pruning"] >= 4
    assert provenance["corpora"][0]["swipes"] == 120
    assert provenance["seed"] == 0
    assert (folder / "tuned.study.db").exists()
    drawn = {file.name for file in (folder / "pictures").iterdir()}
    assert {f"{stage}_{what}.{form}" for stage in ("pruning", "scoring") for what in ("history", "response")
            for form in ("png", "svg")} == drawn  # fmt: skip


def test_shark2_is_tuned_under_the_same_protocol(folder, capsys, monkeypatch):
    code, out, err = run(capsys, monkeypatch, *SHARK2, "--out", "shark2.json")
    assert code == 0, err
    assert "20 trials; best" in out
    result = json.loads((folder / "shark2.json").read_text())
    after = result["metrics"]["after"]["mean"]
    assert after["tt1mm5"] >= result["metrics"]["before"]["mean"]["tt1mm5"]
    files = ("mine.jsonl", "--lexicon", "words.txt", "--method", "shark2", "--scoring", "shark2.json")
    code, out, err = run(capsys, monkeypatch, *files, "--json", command="evaluate")
    assert code == 0, err
    assert json.loads(out)["overall"]["tt1mm5"] == pytest.approx(after["tt1mm5"])
    code, out, _ = run(capsys, monkeypatch, *files, command="decode")
    assert (code, out.count("\n")) == (0, 120)


def test_the_same_command_reads_a_finished_study(folder, capsys, monkeypatch):
    first = run(capsys, monkeypatch, *SHARK2, "--json")[1]
    code, out, _ = run(capsys, monkeypatch, *SHARK2)
    assert code == 0
    assert "20 trials, 20 of them made before" in out
    assert json.loads((folder / "scoring.json").read_text())["shark2"] == json.loads(first)["shark2"]


def test_another_corpus_does_not_join_the_study(folder, capsys, monkeypatch):
    run(capsys, monkeypatch, *SHARK2)
    write_corpus(folder / "mine.jsonl", 119)
    assert "made before" not in run(capsys, monkeypatch, *SHARK2)[1]


def test_corpora_with_lexicons_of_their_own_are_mixed(folder, capsys, monkeypatch):
    russian = ("это", "как", "так", "все", "она", "они", "его")
    write_corpus(folder / "ru.jsonl", 105, russian, "jcuken")
    (folder / "ru.txt").write_text("\n".join(russian))
    code, out, err = run(
        capsys, monkeypatch, "mine.jsonl=words.txt", "ru.jsonl=ru.txt", "--method", "shark2", "--trials-scoring", 10,
        "--json",
    )  # fmt: skip
    assert code == 0, err
    result = json.loads(out)
    assert [corpus["lexicon"] for corpus in result["provenance"]["corpora"]] == ["words.txt", "ru.txt"]
    rows = result["metrics"]["after"]["corpora"]
    mean = result["metrics"]["after"]["mean"]["tt1mm5"]
    assert mean == pytest.approx((rows["mine.jsonl"]["tt1mm5"] + rows["ru.jsonl"]["tt1mm5"]) / 2)


def test_a_weight_is_set_without_swipes(folder, capsys, monkeypatch, tiny_weights):
    (folder / "begin.json").write_text(
        json.dumps({"scoring": Scoring().to_dict(), "label_free": {"frequency_weight": 0.01}})
    )
    options = ("--label-free", "qwerty", "--lexicon", "words.txt", "--weights", tiny_weights, "--language", "tok")
    code, out, err = run(capsys, monkeypatch, *options, "--scoring", "begin.json", "--out", "free.json")
    assert code == 0, err
    assert out.startswith("frequency_weight 0.05 -> ")
    assert "wrote free.json" in out
    again = run(capsys, monkeypatch, *options, "--scoring", "free.json", "--out", "again.json", "--json")[1]
    # From where it has arrived it goes nowhere: the ratio is one.
    assert load_scoring(json.loads(again)).frequency_weight == pytest.approx(
        load_scoring(folder / "free.json").frequency_weight, rel=0.05
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "tune needs corpora, or --label-free LAYOUT in their place"),
        (["mine.jsonl", "--label-free", "qwerty"], "tune needs corpora, or --label-free LAYOUT in their place"),
        (["--label-free", "qwertz2"], "no layout 'qwertz2'"),
        (["--label-free", "qwerty", "--method", "shark2"], "only the encoder's frequency weight"),
        (["--label-free", "qwerty", "--scoring", "bare.json"], "bare.json does not say"),
        ([*SHARK2, "--scoring", "bare.json"], "bare.json holds the encoder's constants"),
        ([*SHARK2, "--scoring", "en"], "no SHARK2 constants 'en'"),
        (["mine.jsonl", "--stage", "both"], "no stage 'both'; there are pruning, scoring, all"),
        (["mine.jsonl", "--method", "dtw"], "no method 'dtw'; there are auto, encoder, decoder, shark2"),
        (["mine.jsonl", "--method", "shark2", "--stage", "pruning"], "shark2 has no pruning stage"),
        (["mine.jsonl", "--constants", "gamma"], "no scoring constant 'gamma' to tune"),
        (["mine.jsonl=", "--method", "shark2"], "a corpus is FILE or FILE=LEXICON, got 'mine.jsonl='"),
        (["missing.jsonl", "--method", "shark2"], "missing.jsonl"),
        (["mine.jsonl=few.txt", "--method", "shark2"], "words meant are not in lexicon few.txt"),
        (["mine.jsonl", "--limit", "99", *SHARK2[1:]], "mine.jsonl: tuning needs at least 100 usable swipes, got 99"),
        (["mine.jsonl", "--out", "nowhere/x.json"], "cannot write nowhere/x.json: no directory nowhere"),
        ([*SHARK2, "--storage", "sqlite:///nowhere/x.db"], "cannot be reached: no directory nowhere"),
        ([*SHARK2, "--storage", "mine.db"], "no storage 'mine.db'; a storage is sqlite:///FILE"),
    ],
)
def test_bad_input_is_one_clear_line(folder, capsys, monkeypatch, arguments, message):
    (folder / "few.txt").write_text("the\ntoo\n")
    (folder / "bare.json").write_text('{"scoring": {"length_bonus": 1.0}}')
    code, out, err = run(capsys, monkeypatch, *arguments)
    assert code == 1
    assert out == ""
    assert err.startswith("glissando: ")
    assert message in err
    assert err.count("\n") == 1


def start(*arguments):
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "from glissando.cli import main; main()", "tune", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    )  # fmt: skip


def test_the_same_command_run_twice_shares_the_work(folder):
    shared = (*SHARK2[:-1], 400, "--storage", "journal:///study.log", "--out")
    workers = [start(*shared, f"{number}.json") for number in range(2)]
    answers = [worker.communicate(timeout=60) for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], answers
    one, two = (json.loads((folder / f"{number}.json").read_text()) for number in range(2))
    assert one["shark2"] == two["shark2"]
    assert one["provenance"]["studies"] == two["provenance"]["studies"]
    assert one["provenance"]["trials"] == two["provenance"]["trials"] == {"scoring": 400}


def test_an_interrupted_tuning_says_so_and_goes_on(folder, capsys, monkeypatch):
    command = [*SHARK2[:-1], "2000", "--storage", "journal:///study.log"]
    worker = start(*command)
    study, deadline = folder / "study.log", time.monotonic() + 60
    while not (study.exists() and study.read_text().count("\n") > 60):
        assert worker.poll() is None, worker.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    worker.send_signal(signal.SIGINT)
    _, err = worker.communicate(timeout=30)
    assert worker.returncode == 130
    assert err == "glissando: interrupted; the same command goes on where it stopped\n"
    code, out, _ = run(capsys, monkeypatch, *SHARK2[:-1], "51", "--storage", "journal:///study.log")
    assert code == 0
    assert "of them made before" in out
