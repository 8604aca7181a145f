"""glissando demo, with an encoder of random weights: what is drawn, not what is read."""

import pytest
from command import refused, run

from glissando.evaluation import evaluate
from glissando.weights import load_weights


@pytest.fixture
def _packaged(monkeypatch, tiny_weights):
    """Pretend that the package carries these weights."""
    monkeypatch.setattr(evaluate, "load_weights", lambda name: load_weights(tiny_weights))
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.usefixtures("_packaged")
def test_words_of_ones_own():
    result = run("demo", "xin", "anh", "--language", "vi", "--layout", "dvorak")
    assert result.code == 0, result.err
    assert "xin on dvorak" in result.out
    assert "anh on dvorak" in result.out
    assert result.out.count("  1. ") == 2
    assert "●" in result.out
    assert "\x1b" not in result.out  # no colour where there is no terminal


@pytest.mark.usefixtures("_packaged")
def test_a_seed_is_a_finger():
    drawn = [run("demo", "xin", "--language", "vi", "--seed", seed).out for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.usefixtures("_packaged")
def test_brackets_in_a_word_are_no_markup():
    result = run("demo", "a[/b]", "--language", "vi")
    assert result.code == 0, result.err
    assert "a[/b] on qwerty" in result.out


@pytest.mark.usefixtures("_packaged")
def test_the_scenes_cover_three_keyboards():
    result = run("demo")
    assert result.code == 0, result.err
    for title in ("keyboard on qwerty", "don't on qwerty", "stream on clearflow", "привет on jcuken"):
        assert title in result.out


@pytest.mark.usefixtures("_packaged")
def test_what_cannot_be_swiped_is_one_line():
    assert "42" in refused("demo", "42", "--language", "vi")
    assert "language 'xx'" in refused("demo", "hello", "--language", "xx")
