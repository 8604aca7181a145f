import pytest
from command import refused, run


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


def test_words_of_ones_own():
    result = run("demo", "xin", "a[/b]", "--layout", "dvorak")
    assert result.code == 0, result.err
    assert "xin on dvorak" in result.out
    assert "a[/b] on dvorak" in result.out  # brackets are no markup
    assert result.out.count("  1. ") == 2
    assert "●" in result.out
    assert "\x1b" not in result.out  # no colour where there is no terminal


def test_a_seed_is_a_finger():
    drawn = [run("demo", "hello", "--seed", seed).out for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_first_minute_shows_three_keyboards_fits_80_columns_and_reads_every_swipe():
    result = run("demo")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert max(map(len, lines)) <= 80
    titles = [line.split(",")[0].split(" on ") for line in lines if " on " in line]
    assert {layout for _, layout in titles} == {"qwerty", "clearflow", "jcuken"}
    assert [line.split()[1] for line in lines if line.startswith("  1. ")] == [word for word, _ in titles]


def test_what_cannot_be_swiped_is_one_line():
    assert "42" in refused("demo", "42")
    assert "language 'xx'" in refused("demo", "hello", "--language", "xx")
