import numpy as np
import pytest

from glissando.errors import TrainingError
from glissando.train.holdout import draws, held_out, save_held


def test_people_are_whole_and_about_as_many_as_asked_for():
    sessions = np.repeat(np.arange(2000), 3)
    mask = held_out(sessions, 0.1)
    assert mask.reshape(-1, 3).all(axis=1).sum() == mask.sum() / 3
    assert mask.mean() == pytest.approx(0.1, abs=0.02)


def test_a_session_falls_where_it_falls_whoever_else_is_there():
    few, many = np.arange(50), np.arange(500)
    np.testing.assert_array_equal(held_out(few, 0.3), held_out(many, 0.3)[:50])
    assert (held_out(many, 0.3, seed=1) != held_out(many, 0.3)).any()


def test_nobody_and_unknown_people():
    assert not held_out(np.array([-1, 3]), 0.0).any()
    with pytest.raises(TrainingError, match="rows of unknown sessions"):
        held_out(np.array([-1, 3]), 0.1)


def test_rows_are_written(tmp_path):
    save_held(tmp_path / "held.npz", np.array([4, 9]))
    assert np.load(tmp_path / "held.npz")["rows"].tolist() == [4, 9]


def test_what_is_set_aside_is_who_draws_low():
    sessions = np.array([7, 3, 7, 11, 3])
    drawn = draws(sessions, seed=5)
    assert drawn[0] == drawn[2]
    assert drawn[1] == drawn[4]
    assert ((drawn >= 0) & (drawn < 1)).all()
    np.testing.assert_array_equal(held_out(sessions, 0.5, seed=5), drawn < 0.5)
