import json
import math

import numpy as np
import pytest

from glissando.design.archive import Archive, Front
from glissando.errors import DesignError
from glissando.layout import load_layout


def layouts(*costs):
    """Layouts told apart by a number, with their clarity and travel."""
    slots = np.array([[number, 0] for number in range(len(costs))])
    return slots, np.array([clarity for clarity, _ in costs]), np.array([travel for _, travel in costs])


@pytest.mark.parametrize(("dial", "best"), [(0.0, [(1, 0), (2, 0)]), (10.0, [(3, 0), (1, 0)])])
def test_the_best_by_the_dial_are_kept_in_order_and_no_layout_twice(dial, best):
    archive = Archive(dial, keep=2)
    assert archive.add(*layouts((3.0, 0.5), (1.0, 0.5), (2.0, 0.5), (4.0, 0.1)))
    assert not archive.add(*layouts((9.0, 0.5), (1.0, 0.5)))
    assert [one.slots for one in archive.best] == best


def test_two_archives_merge_into_the_archive_of_all_their_layouts():
    slots, clarity, travel = layouts((3.0, 0.5), (1.0, 0.5), (2.0, 0.5), (4.0, 0.1), (5.0, 0.3))
    whole, first, second = (Archive(10.0, keep=2) for _ in range(3))
    whole.add(slots, clarity, travel)
    first.add(slots[:2], clarity[:2], travel[:2])
    second.add(slots[2:], clarity[2:], travel[2:])
    first.merge(second)
    assert first == whole


def test_the_front_has_none_that_another_beats_in_both():
    archive = Archive(1.0, 4)
    archive.add(*layouts((5.0, 0.3), (4.0, 0.4), (4.5, 0.5), (1.0, 0.6), (1.0, 0.7)))
    assert [one.slots[0] for one in archive.front()] == [0, 1, 3]
    archive.add(*layouts((0.5, 0.6), (2.0, 0.6)))  # of layouts equally quick the clearest is on the front
    assert [one.clarity for one in archive.front()] == [5.0, 4.0, 0.5]


@pytest.fixture
def folder(tmp_path):
    """A search's two files, with as much in them as a front needs."""
    points = (("kasroz", 2.0, 0.9), ("clearflow", 3.0, 0.7))
    front = [{"clarity": c, "travel": t, "layout": load_layout(name).to_dict()} for name, c, t in points]
    account = {"config": {"dial": 10}, "peers": {"qwerty": {"clarity": 1, "travel": 1}}, "clarity": 2, "travel": 0.8}
    (tmp_path / "front.json").write_text(json.dumps(front))
    (tmp_path / "search.json").write_text(json.dumps(account))
    return tmp_path


POINT = {"clarity": 1.0, "travel": 1.0, "layout": {"name": "ab", "rows": ["ab"]}}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        *(("front.json", text) for text in ("", "[", "{}", "[]", "[3]", '[{"clarity": 1}]')),
        ("front.json", json.dumps([{**POINT, "layout": 3}])),
        ("front.json", json.dumps([{**POINT, "clarity": math.nan}])),
        *(("search.json", text) for text in ("[]", "{}", '{"config": {}, "peers": {}}')),
        ("search.json", '{"config": {"dial": 1}, "peers": []}'),
    ],
)
def test_files_that_cannot_be_read(folder, file, text):
    (folder / file).write_text(text)
    with pytest.raises(DesignError, match="holds no front of a search"):
        Front.read(folder)
