"""glissando bench."""

import json

import pytest
from command import lines, refused, row, run


@pytest.fixture
def words(tmp_path):
    file = tmp_path / "words.txt"
    file.write_text("hello 9\nworld 8\n")
    return file


def test_recorded_swipes(tmp_path, words, tiny_weights):
    file = tmp_path / "swipes.jsonl"
    file.write_bytes(lines([row("hello"), row("hello", "dvorak"), row("zebra"), row("world")]))
    call = ("bench", "--swipes", file, "--lexicon", words, "--weights", tiny_weights)
    figures = json.loads(run(*call, "--json").out)
    assert (figures["swipes"], figures["spellings"], figures["recall"]) == (3, 3, 100)  # zebra is added
    assert json.loads(run(*call, "--count", 1, "--json").out)["swipes"] == 1
    assert json.loads(run(*call, "--layout", "dvorak", "--json").out)["swipes"] == 1
    assert "has no swipe on layout azerty" in refused(*call, "--layout", "azerty")


def test_made_up_swipes_and_the_table(tiny_weights, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    result = run("bench", "--language", "vi", "--weights", tiny_weights, "--count", 3)
    assert result.code == 0, result.err
    assert "3 swipes, beam 100" in result.out
    for step in ("resample", "encoder", "search", "geometry", "rank", "end to end"):
        assert step in result.out


def test_words_that_the_layout_cannot_type(tiny_weights):
    message = refused("bench", "--layout", "hindi", "--language", "vi", "--weights", tiny_weights)
    assert "can be typed on layout hindi" in message
