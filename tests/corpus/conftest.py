"""What the tests of the corpus share."""

import json
from pathlib import Path

import pytest

from glissando.layout import Layout


@pytest.fixture
def layouts(tmp_path: Path) -> Path:
    """A directory of two layouts: abc in a row, and one with two keys for a."""
    folder = tmp_path / "layouts"
    folder.mkdir()
    for name in ("abc", "aba"):
        (folder / f"{name}.json").write_text(json.dumps(Layout.from_rows(name, [name]).to_dict()))
    return folder
