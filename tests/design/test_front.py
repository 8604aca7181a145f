"""The front of a search, as it is read back."""

import json
import math

import pytest

from glissando.design.front import Front
from glissando.errors import DesignError, LayoutError
from glissando.layout import load_layout


def write_front(folder, points, dial=16.0):
    """A search's two files, with as much in them as a front needs."""
    front = [
        {"clarity": clarity, "travel": travel, "layout": load_layout(name).to_dict()}
        for name, clarity, travel in points
    ]
    (folder / "front.json").write_text(json.dumps(front))
    account = {"config": {"dial": dial}, "peers": {"qwerty": {"clarity": 1, "travel": 1}}, "clarity": 2, "travel": 0.8}
    (folder / "search.json").write_text(json.dumps(account))
    return folder


def test_the_quickest_comes_first_and_costs_add_up(tmp_path):
    found = Front.read(write_front(tmp_path, [("kasroz", 2.0, 0.9), ("clearflow", 3.0, 0.7)], dial=10))
    assert [one.layout.name for one in found.choices] == ["clearflow", "kasroz"]
    assert found.choices[0].total(found.dial) == pytest.approx(10.0)
    assert found.choices[1].total(0) == 2.0
    assert (found.best.travel, found.peers["qwerty"].clarity) == (0.8, 1.0)


def test_letters_are_those_of_the_words(tmp_path, tiny_weights):
    found = Front.read(write_front(tmp_path, [("kasroz", 2.0, 0.9), ("clearflow", 3.0, 0.7)]))
    one, two = found.letters(["steam", "at"], tiny_weights)
    assert [letter.letter for letter in one["steam"]] == list("steam")
    assert all(0 <= letter.confidence <= 1 for letter in (*one["at"], *two["at"]))
    assert one["steam"] != two["steam"]
    with pytest.raises(LayoutError, match="no key for 'п'"):
        found.letters(["привет"], tiny_weights)


POINT = {"clarity": 1.0, "travel": 1.0, "layout": {"name": "ab", "rows": ["ab"]}}


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "{}", "[]", "[3]", '[{"clarity": 1}]', '[{"clarity": "x", "travel": 1, "layout": 3}]',
        json.dumps([{**POINT, "layout": 3}]), json.dumps([{**POINT, "clarity": math.nan}]),
    ],
)  # fmt: skip
def test_a_front_that_cannot_be_read(tmp_path, text):
    write_front(tmp_path, [("kasroz", 2.0, 0.9)])
    (tmp_path / "front.json").write_text(text)
    with pytest.raises(DesignError, match="holds no front of a search"):
        Front.read(tmp_path)


@pytest.mark.parametrize("text", ["[]", "{}", '{"config": {}, "peers": {}}', '{"config": {"dial": 1}, "peers": []}'])
def test_an_account_that_cannot_be_read(tmp_path, text):
    write_front(tmp_path, [("kasroz", 2.0, 0.9)])
    (tmp_path / "search.json").write_text(text)
    with pytest.raises(DesignError, match="holds no front of a search"):
        Front.read(tmp_path)
