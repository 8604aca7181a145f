"""glissando decode and glissando evaluate, through the real entry point."""

import json

import pytest
from command import lines, row, run

from glissando.layout import Layout

WORDS = "hello 100\nworld 90\nkeyboard 80\nwater 70\nDon't 60\nhalo 5\nwort 4\n"
FIELDS = {"n", "top1", "top3", "top10", "greedy", "recall", "oov", "ms_p50"}


@pytest.fixture
def words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text(WORDS, encoding="utf-8")
    return file


def evaluated(*arguments):
    """The JSON that evaluate prints."""
    result = run("evaluate", *arguments, "--json")
    assert result.code == 0, result
    assert result.err == ""
    return json.loads(result.out)


def decoded(*arguments, stdin=b""):
    """The lines that decode prints."""
    result = run("decode", *arguments, stdin=stdin)
    assert result.code == 0, result
    return result.out.splitlines()


def test_decode_prints_candidates_best_first(corpus, words):
    options = ("--method", "shark2", "--lexicon", words)
    printed = decoded(corpus([row("hello"), row("don't")]), *options, "-k", 2)
    assert [line.split("\t")[0] for line in printed] == ["hello", "Don't"]
    assert all(len(line.split("\t")) <= 2 for line in printed)
    assert decoded(corpus([]), *options) == []
    (line,) = decoded(corpus([row("don't")], "s.jsonl.gz"), *options, "--json")
    best = json.loads(line)[0]
    assert (best["word"], best["letters"]) == ("Don't", "dont")
    assert set(best) == {"word", "score", "log_prob", "probability", "letters", "frequency"}


def test_standard_input_is_read_and_lines_keep_the_layout_they_name(words):
    options = ("--method", "shark2", "--lexicon", words, "-k", 1)
    data = b"\n" + lines([row("world")]) + b"  \n" + lines([row("water", layout=None)])  # the default is qwerty
    assert decoded("-", *options, stdin=data) == ["world", "water"]
    rows = [row("hello", "dvorak"), row("hello", "colemak", layout=None), row("hello", "qwerty")]
    assert decoded("-", "--layout", "colemak", *options, stdin=lines(rows)) == ["hello"] * 3


def test_the_default_layout_may_be_a_file_or_lie_in_the_directory(tmp_path, words):
    folder = tmp_path / "layouts"
    folder.mkdir()
    mine = Layout.from_rows("mine", ["hw ot", "eolrd", "kybaw"])
    (folder / "mine.json").write_text(json.dumps(mine.to_dict()), encoding="utf-8")
    data = lines([row("world", mine, layout=None)])
    options = ("--method", "shark2", "--lexicon", words, "-k", 1)
    assert decoded("-", "--layout", folder / "mine.json", *options, stdin=data) == ["world"]
    assert decoded("-", "--layout", "mine", "--layouts", folder, *options, stdin=data) == ["world"]


def test_evaluate_groups_by_layout_over_several_files(corpus, words):
    first = corpus([row("hello"), row("world"), row("zebra"), row("water", "dvorak")], "a.jsonl")
    second = corpus([row("keyboard", "dvorak"), row("hello")], "b.jsonl.gz")
    result = evaluated(first, second, "--method", "shark2", "--lexicon", words)
    assert set(result) == {"overall", "by_layout"}
    assert set(result["by_layout"]) == {"qwerty", "dvorak"}
    for part in (result["overall"], *result["by_layout"].values()):
        assert set(part) >= FIELDS
        assert part["ms_p50"] > 0
    qwerty, dvorak, overall = result["by_layout"]["qwerty"], result["by_layout"]["dvorak"], result["overall"]
    assert (qwerty["n"], qwerty["top1"], qwerty["oov"]) == (4, 75, 25)  # zebra is not in the list: a miss
    assert (dvorak["n"], dvorak["top1"], dvorak["oov"]) == (2, 100, 0)
    assert (overall["n"], overall["recall"]) == (6, pytest.approx(500 / 6))
    assert overall["greedy"] is None  # templates read no letters


def test_the_limit_counts_swipes_kept_of_each_file(corpus, words):
    rows = [row("hello", key_dist_max=9), row("world"), row("zebra"), {}]  # what is beyond the limit is not read
    files = corpus(rows, "a.jsonl"), corpus(rows, "b.jsonl")
    options = ("--method", "shark2", "--lexicon", words, "--limit", 2)
    result = evaluated(*files, *options, "--max-key-distance", 2)["overall"]
    assert (result["n"], result["top1"], result["oov"]) == (4, 50, 50)
    result = evaluated(*files, *options, "--max-key-distance", 2, "--add-targets")["overall"]
    assert (result["n"], result["top1"], result["oov"]) == (4, 100, 50)
    assert set(result["by_length"]) == {"5"}


def test_layouts_of_the_directory_come_before_the_built_in_ones(tmp_path, corpus, words):
    folder = tmp_path / "layouts"
    folder.mkdir()
    mirrored = Layout.from_rows("qwerty", ["poiuytrewq", "lkjhgfdsa", "mnbvcxz"])
    (folder / "qwerty.json").write_text(json.dumps(mirrored.to_dict()), encoding="utf-8")
    file = corpus([row("hello", mirrored), row("world", mirrored)])
    options = (file, "--method", "shark2", "--lexicon", words, "--max-key-distance", 2)
    assert evaluated(*options, "--layouts", folder)["overall"]["top1"] == 100
    assert run("evaluate", *options).code == 1  # on the built-in qwerty both stray, and nothing is left


def test_the_encoder_decodes_and_is_evaluated(corpus, words):
    file = corpus([row("hello"), row("world"), row("zebra")])
    for line in decoded(file, "--lexicon", words, "-k", 3, "--json"):
        scores = [one["score"] for one in json.loads(line)]
        assert scores == sorted(scores, reverse=True)
        assert 0 < len(scores) <= 3
    result = evaluated(file, "--lexicon", words, "--beam", 20)["overall"]
    assert result["n"] == 3
    assert result["greedy"] is not None
    assert 0 <= result["top1"] <= result["top3"] <= result["top10"] <= result["recall"] <= 100
    assert result["oov"] == pytest.approx(100 / 3)


def test_scoring_by_file_changes_the_ranking(tmp_path, corpus, words):
    options = (corpus([row("hello")]), "--lexicon", words, "-k", 1)
    best = []
    for bonus in (50.0, -50.0):
        (tmp_path / "mine.json").write_text(json.dumps({"length_bonus": bonus}), encoding="utf-8")
        best += decoded(*options, "--scoring", tmp_path / "mine.json")
    assert len(best[0]) == 8  # keyboard, the longest
    assert len(best[1]) < 8
    assert decoded(*options, "--scoring", "general")


def test_the_table_says_the_same_as_the_json(corpus, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    file = corpus([row("hello"), row("zebra"), row("water", "dvorak")])
    table = run("evaluate", file, "--method", "shark2", "--lexicon", words).out
    rows = [line.replace("│", " ").split() for line in table.splitlines()]
    top1 = {cells[0]: cells[2] for cells in rows if cells and cells[0] in ("qwerty", "dvorak", "all")}
    assert top1 == {"qwerty": "50.00", "dvorak": "100.00", "all": "66.67"}
    assert "top-1 by length: 5: 66.7" in table


def test_reliability_is_drawn_and_counted(corpus, words, tmp_path):
    file = corpus([row("hello"), row("zebra"), row("water")])
    picture = tmp_path / "reliability.png"
    result = evaluated(file, "--method", "shark2", "--lexicon", words, "--reliability", picture)["overall"]
    assert 0 <= result["calibration_error"] <= 100
    assert picture.read_bytes().startswith(b"\x89PNG")
    for bad, message in (("plot.txt", "ends in .png, .svg or .pdf"), ("nowhere/plot.png", "no directory nowhere")):
        failed = run("evaluate", file, "--method", "shark2", "--reliability", bad)
        assert failed.code == 1
        assert message in failed.err
