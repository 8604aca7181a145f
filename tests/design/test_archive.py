import json

import numpy as np
import pytest

from glissando.design.archive import Archive, Found


def layouts(*costs):
    """Layouts told apart by a number, with their clarity and travel."""
    slots = np.array([[number, 0] for number in range(len(costs))])
    return slots, np.array([clarity for clarity, _ in costs]), np.array([travel for _, travel in costs])


def test_the_best_are_kept_in_order_and_no_layout_twice():
    archive = Archive(dial=2.0, keep=2)
    assert archive.add(*layouts((3.0, 0.5), (1.0, 0.5), (2.0, 0.5)))
    assert [found.slots for found in archive.best] == [(1, 0), (2, 0)]
    assert not archive.add(*layouts((9.0, 0.5), (1.0, 0.5)))
    assert [found.slots for found in archive.best] == [(1, 0), (2, 0)]
    assert archive.best[0].total(2.0) == pytest.approx(2.0)


def test_the_dial_decides_which_is_best():
    for dial, winner in ((0.0, (0, 0)), (10.0, (1, 0))):
        archive = Archive(dial, keep=1)
        archive.add(*layouts((1.0, 0.9), (2.0, 0.5)))
        assert archive.best[0].slots == winner


def test_the_front_has_none_that_another_beats_in_both():
    archive = Archive(1.0, 4)
    archive.add(*layouts((5.0, 0.3), (4.0, 0.4), (4.5, 0.5), (1.0, 0.6), (1.0, 0.7)))
    assert [found.slots[0] for found in archive.front()] == [0, 1, 3]


def test_of_layouts_as_quick_the_clearest_is_on_the_front():
    archive = Archive(1.0, 4)
    archive.add(*layouts((2.0, 0.5), (1.0, 0.5)))
    archive.add(*layouts((1.5, 0.5)))
    assert [found.clarity for found in archive.front()] == [1.0]


def test_an_archive_survives_json():
    archive = Archive(1.0, 3)
    archive.add(*layouts((5.0, 0.3), (4.0, 0.4), (1.0, 0.6)))
    back = Archive(1.0, 3)
    back.restore(json.loads(json.dumps(archive.to_dict())))
    assert back == archive
    assert isinstance(back.best[0], Found)
