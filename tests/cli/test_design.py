"""``glissando design``."""

import json

import pytest
from command import refused, run

from glissando.layout import load_layout

SMALL = ("--set", "climbers=1", "--set", "rounds=1", "--set", "swaps=4", "--set", "memo_bits=12", "--set", "keep=2")


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("the 9\nof 8\nstream 2\na 3\n")
    return path


@pytest.fixture
def search(tmp_path, words, tiny_weights):
    def call(*more):
        where = ("--out", tmp_path / "out", "--lexicon", words, "--weights", tiny_weights, "--device", "cpu", *SMALL)
        return run("design", *where, *more)

    return call


def test_a_search_from_a_grid_to_files(search, tmp_path):
    result = search("--grid", "4-6-6-6-4", "--name", "mine")
    assert result.code == 0, result
    assert "round 1" in result.err
    for text in ("layouts judged on every word", "mine", "kasroz"):
        assert text in result.out
    for name in ("layout.json", "layout.svg", "search.json", "front.json", "front.svg", "front.png"):
        assert (tmp_path / "out" / name).stat().st_size > 0
    assert run("layouts", tmp_path / "out" / "layout.json").code == 0
    assert "--resume" in search("--grid", "4-6-6-6-4").err


def test_the_options_reach_the_search(search, tmp_path):
    result = search("--start", "qwerty", "--max-swaps", "2", "--pin", "aeiou", "--travel", "7", "--seed", "5")
    assert result.code == 0, result
    account = json.loads((tmp_path / "out" / "search.json").read_text())
    assert (account["config"]["dial"], account["config"]["seed"]) == (7.0, 5)
    qwerty, layout = load_layout("qwerty"), load_layout(tmp_path / "out" / "layout.json")
    assert all(layout.letters[qwerty.letters.index(vowel)] == vowel for vowel in "aeiou")


def test_costs_of_layouts(words, tiny_weights):
    common = ("design", "cost", "kasroz", "qwerty", "--lexicon", words, "--weights", tiny_weights, "--device", "cpu")
    assert "kasroz" in run(*common).out
    row = json.loads(run(*common, "--json", "--travel", "2").out)["layouts"]["qwerty"]
    assert row["cost"] == pytest.approx(row["clarity"] + 2 * row["travel"])


def test_words_for_another_machine(tmp_path, words):
    result = run("design", "words", tmp_path / "words.npz", "--lexicon", words, "--words", "3")
    assert "3 words" in result.out, result


def test_bad_input_is_one_line(tmp_path, words, tiny_weights):
    common = ("--lexicon", words, "--weights", tiny_weights, "--device", "cpu", "--out", tmp_path / "x")
    grid = ("design", "--grid", "4-6-6-6-4")
    assert "26 letters do not fit on 6 keys" in refused("design", "--grid", "3-3", *common)
    assert "pinned to one key" in refused(*grid, "--pin", "a=1.1 b=1.1", *common)
    assert "have no key" in refused(*grid, "--letters", "abcdefg", *common)
    assert "no setting pace" in refused(*grid, "--set", "pace=1", *common)
    assert "no layout 'nothing'" in refused("design", "--start", "nothing", *common)
    assert not (tmp_path / "x").exists()


def test_without_a_grid_it_shows_help():
    result = run("design")
    assert result.code == 2
    assert "--grid" in result.out
