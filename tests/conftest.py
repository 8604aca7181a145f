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


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the tests' word lists and tries out of the user's cache."""
    os.environ["GLISSANDO_CACHE"] = str(tmp_path_factory.mktemp("cache"))
