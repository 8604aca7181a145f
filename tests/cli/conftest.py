"""Files that the commands read."""

import gzip

import pytest
from command import lines


@pytest.fixture
def words(tmp_path):
    """A word list."""
    file = tmp_path / "words.txt"
    file.write_text("hello 9\nworld 8\n")
    return file


@pytest.fixture
def corpus(tmp_path):
    """Writes rows to a file."""

    def write(rows, name="swipes.jsonl"):
        data = lines(rows)
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return tmp_path / name

    return write
