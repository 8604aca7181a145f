from dataclasses import dataclass
from pathlib import Path

import pytest

from glissando.cluster.connection import connect, with_full_paths
from glissando.errors import ClusterError


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("nowhere", "no cluster 'nowhere'; there are local, auto and HOST:PORT of a head node"),
        ("ray://localhost:10001", "no cluster 'ray://localhost:10001'"),
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1: Connection refused"),
        ("127.0.0.1:99999", "no Ray cluster at 127.0.0.1:99999: "),
    ],
)
def test_no_cluster_at_an_address(address, says):
    pytest.importorskip("ray", reason="Ray is not installed")
    with pytest.raises(ClusterError, match=says), connect(address):
        pass


@dataclass(frozen=True)
class Options:
    lexicon: Path | None
    weights: str
    scoring: str
    beam: int = 100


def test_paths_of_files_become_whole_and_names_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.onnx").touch()
    (tmp_path / "auto").touch()  # a name, not a file
    found = with_full_paths(Options(Path("words.txt"), "mine.onnx", "auto"))
    assert found == Options(tmp_path / "words.txt", str(tmp_path / "mine.onnx"), "auto")
    assert with_full_paths(Options(None, "encoder", "auto")) == Options(None, "encoder", "auto")
