"""glissando decode and glissando evaluate, through the real entry point."""

import json

import pytest
from command import lines, refused, row, run

from glissando.layout import Layout
from glissando.vocabulary import Vocabulary

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
    answer = json.loads(line)
    best = answer["candidates"][0]
    assert (best["word"], best["letters"], best["literal"]) == ("Don't", "dont", False)
    assert set(best) == {
        "word", "score", "log_prob", "probability", "letters", "frequency", "literal", "language"
    }  # fmt: skip
    assert answer["none"] is None  # templates do not know


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


def test_parquet_directories_and_globs_are_decoded_and_evaluated_as_json_lines_are(corpus, words, tmp_path):
    pytest.importorskip("pyarrow", reason="the parquet extra is not installed")
    from glissando.corpus.records import read_swipes, write_swipes

    options = ("--method", "shark2", "--lexicon", words)
    file = tmp_path / "rounded.jsonl"  # as all files that are written
    write_swipes(file, read_swipes(corpus([row("hello"), row("world"), row("water")])))
    write_swipes(tmp_path / "logs" / "1.parquet", read_swipes(file, limit=2))
    write_swipes(tmp_path / "logs" / "2.jsonl.gz", list(read_swipes(file))[2:])
    for source in (tmp_path / "logs", f"{tmp_path}/lo*/*", (tmp_path / "logs").as_uri()):
        assert decoded(source, *options, "-k", 1) == ["hello", "world", "water"]
        found, expected = evaluated(source, *options, "--prompts", source), evaluated(file, *options)
        for part in (found, expected):
            part["overall"].pop("ms_p50"), part["by_layout"]["qwerty"].pop("ms_p50")
        assert found == expected
    message = refused("decode", f"{tmp_path}/*.parquet", *options)
    assert f"no file matches {tmp_path}/*.parquet" in message


def test_evaluate_groups_by_layout_over_several_files(corpus, words):
    first = corpus([row("hello"), row("world"), row("zebra"), row("water", "dvorak")], "a.jsonl")
    second = corpus([row("keyboard", "dvorak"), row("hello")], "b.jsonl.gz")
    result = evaluated(first, second, "--method", "shark2", "--lexicon", words)
    assert set(result) == {"overall", "by_layout", "known", "unknown"}
    assert (result["known"]["n"], result["unknown"]["n"], result["unknown"]["top1"]) == (5, 1, 0)
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
        scores = [one["score"] for one in json.loads(line)["candidates"]]
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
    named = ("qwerty", "dvorak", "all", "known", "unknown")
    top1 = {cells[0]: cells[2] for cells in rows if cells and cells[0] in named}
    assert top1 == {"qwerty": "50.00", "dvorak": "100.00", "all": "66.67", "known": "100.00", "unknown": "0.00"}
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


def test_tapped_letters_of_the_line_come_before_those_of_the_options(corpus, words):
    file = corpus([row("world"), row("world", prefix="", suffix="d"), row("world", prefix="wor", suffix="t")])
    scoring = ("--scoring", "general", "--lexicon", words, "-k", 9)
    first, second, third = (line.split("\t") for line in decoded(file, *scoring, "--prefix", "ha", "--suffix", "lo"))
    assert all(word.startswith("ha") and word.endswith("lo") for word in first)
    assert all(word.endswith("d") for word in second)
    assert "world" in second
    assert all(word.startswith("wor") and word.endswith("t") for word in third)
    assert "'я' of 'я' is not on the layout" in refused("decode", file, *scoring, "--prefix", "я")
    tapped = corpus([row("world", prefix="w")])
    assert "shark2 takes no prefix" in refused("decode", tapped, "--lexicon", words, "--method", "shark2")


def test_own_words_and_literals_are_decoded(tmp_path, corpus, words):
    file = corpus([row("zebra")])
    options = (file, "--lexicon", words, "--json", "-k", 3)
    (line,) = decoded(*options)
    literals = [one["word"] for one in json.loads(line)["candidates"] if one["literal"]]
    assert "zebra" in literals
    own = Vocabulary()
    own.learn("Zebra", 10)
    own.save(tmp_path / "own.json")
    (line,) = decoded(*options, "--vocabulary", tmp_path / "own.json")
    best = json.loads(line)["candidates"][0]
    assert (best["word"], best["literal"]) == ("Zebra", False)
    (tmp_path / "own.json").write_text("{")
    assert "own.json" in refused("decode", *options, "--vocabulary", tmp_path / "own.json")


def test_abstaining_leaves_the_line_empty_and_says_how_likely_none_is(corpus, words):
    options = (corpus([row("hello"), row("hello")]), "--lexicon", words, "-k", 2)
    for line in decoded(*options, "--json", "--abstain", 1):
        answer = json.loads(line)
        assert answer["candidates"] == []
        assert 0 <= answer["none"] <= 1
    assert decoded(*options, "--abstain", 1) == ["", ""]
    assert all(decoded(*options, "--abstain", 0))
    sure = [json.loads(line) for line in decoded(*options, "--json")]
    assert all(sum(one["probability"] for one in a["candidates"]) + a["none"] == pytest.approx(1) for a in sure)
    assert run("decode", *options, "--abstain", 1.5).code == 2


def test_a_line_that_stays_empty_adds_nothing_to_the_sentence(corpus, words):
    options = (corpus([row("hello"), row("world")]), "--lexicon", words, "--sentence", "-k", 1)
    assert decoded(*options, "--abstain", 1) == ["", ""]
    assert decoded(*options) == ["hello", "world"]


def test_several_languages(corpus, words):
    """The list states no language, so it is that of the first; ms has a short list of its own."""
    file = corpus([row("rumah"), row("hello")])
    printed = decoded(file, "--language", "en,ms", "--lexicon", words, "--json", "-k", 1)
    best = [json.loads(line)["candidates"][0] for line in printed]
    assert [(one["word"], one["language"]) for one in best] == [("rumah", "ms"), ("hello", "en")]
    assert "language 'xx'" in refused("evaluate", file, "--language", "xx,en")


def test_people_are_evaluated_word_by_word(corpus, words):
    file = corpus([row("zebra", session="p")] * 2)
    options = (file, "--lexicon", words)
    assert evaluated(*options, "--learn", "--adapt")["overall"]["top1"] >= 50
    assert evaluated(*options, "--letters", 3)["unknown"]["n"] == 2
    assert "shark2 has no learn" in refused("evaluate", *options, "--method", "shark2", "--learn")
    assert "No such file" in refused("evaluate", *options, "--vocabulary", "none.json")
