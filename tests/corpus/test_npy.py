"""Arrays that grow on disk read back as numpy's own."""

from pathlib import Path

import numpy as np

from glissando.corpus.npy import GrowingArray


def test_what_is_appended_is_what_numpy_reads(tmp_path: Path) -> None:
    rows = np.arange(12 * 2 * 3).reshape(12, 2, 3)
    array = GrowingArray(tmp_path / "a.npy", "<u2", (2, 3))
    for start in range(0, 12, 5):
        array.append(rows[start : start + 5])
    array.close()
    read = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert read.dtype == np.uint16
    assert np.array_equal(read, rows)


def test_a_header_has_room_for_a_million_rows(tmp_path: Path) -> None:
    array = GrowingArray(tmp_path / "a.npy", "|u1", ())
    array.append(np.zeros(1_234_567))
    array.close()
    assert np.load(tmp_path / "a.npy", mmap_mode="r").shape == (1_234_567,)


def test_no_rows(tmp_path: Path) -> None:
    GrowingArray(tmp_path / "a.npy", "<i4", (2,)).close()
    assert np.load(tmp_path / "a.npy").shape == (0, 2)
