from dataclasses import replace

import numpy as np
import pytest
from train.matcher.finalist_files import toy_finalists

from glissando.errors import CorpusError
from glissando.train.matcher.finalists import FinalistFile, pack_paths, unpack_paths


def test_a_file_is_read_as_it_was_written(tmp_path):
    written = toy_finalists(20)
    written.save(tmp_path / "f.npz")
    read = FinalistFile.open(tmp_path / "f.npz")
    assert (len(read), read.digest, read.layout_list) == (20, written.digest, written.layout_list)
    for name in ("paths", "keys", "scores", "frequencies", "places", "sessions", "aspects", "layouts"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))


def test_paths_keep_their_place():
    paths = np.linspace(0, 1, 128, dtype=np.float32).reshape(1, 2, 64)
    np.testing.assert_allclose(unpack_paths(pack_paths(paths).astype(np.float32)), paths, atol=2e-5)
    assert pack_paths(np.array([9e9, -9e9])).tolist() == [65535, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"meta": {"format": "other", "version": 1}}, "its format is 'other'"),
        ({"places": np.zeros(3, np.int16)}, "places has shape"),
        ({"places": np.full(20, 10, np.int16)}, "a place or a layout points to nothing"),
        ({"layouts": np.full(20, 1, np.uint8)}, "a place or a layout points to nothing"),
        ({"keys": np.full((20, 10, 20), 6, np.uint8)}, "a finalist has a key that its layout lacks"),
        ({"meta": {"format": "glissando-finalists", "version": 1}}, "layouts"),
    ],
)
def test_parts_that_do_not_fit_are_refused(tmp_path, change, message):
    replace(toy_finalists(20), **change).save(tmp_path / "f.npz")
    with pytest.raises(CorpusError, match=f"is not a sound file of finalists: .*{message}"):
        FinalistFile.open(tmp_path / "f.npz")


def test_a_damaged_file_is_one_clear_line(tmp_path):
    with pytest.raises(CorpusError, match=r"cannot read the finalists .*none.npz: No such file"):
        FinalistFile.open(tmp_path / "none.npz")
    toy_finalists(20).save(tmp_path / "f.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "f.npz").read_bytes()[:-100])
    (tmp_path / "text.npz").write_text("no numbers")
    for name in ("cut", "text"):
        with pytest.raises(CorpusError, match="cannot read the finalists"):
            FinalistFile.open(tmp_path / f"{name}.npz")
