"""An .npy file whose number of rows is not known when it is begun."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np


class GrowingArray:
    """An .npy file written row by row; its header is completed at the end."""

    def __init__(self, file: Path, dtype: str, shape: tuple[int, ...]) -> None:
        self.dtype, self.shape, self.rows = dtype, shape, 0
        self.file: IO[bytes] = file.open("wb")
        self.data_start = self._write_header()

    def append(self, array: np.ndarray) -> None:
        """Add rows."""
        self.file.write(np.ascontiguousarray(array, dtype=self.dtype).data)
        self.rows += len(array)

    def close(self) -> None:
        """Write the true number of rows into the header."""
        self.file.seek(0)
        # numpy leaves room in the header for the first axis to grow, so the second header is as long as the first.
        if self._write_header() != self.data_start:
            raise AssertionError("the .npy header changed its length")
        self.file.close()

    def _write_header(self) -> int:
        """Write the header at the current position and return where the data begin."""
        header = {"descr": self.dtype, "fortran_order": False, "shape": (self.rows, *self.shape)}
        np.lib.format.write_array_header_1_0(self.file, header)
        return self.file.tell()
