"""What every test may ask for."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of swipes, layouts and word lists, from GLISSANDO_DATA or beside the repository."""
    folder = Path(os.environ.get("GLISSANDO_DATA") or BESIDE)
    if not folder.is_dir():
        pytest.skip("no swipes: set GLISSANDO_DATA to the data directory")
    return folder
