"""What every test may ask for."""

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

# The tests run on all cores already. Several threads of one process would wait for each other there, and a waiting
# thread of torch keeps its core busy. Set before anything imports torch; the processes that tests start inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of swipes, layouts and word lists, from GLISSANDO_DATA or beside the repository."""
    folder = Path(os.environ.get("GLISSANDO_DATA") or BESIDE)
    if not folder.is_dir():
        pytest.skip("no swipes: set GLISSANDO_DATA to the data directory")
    return folder


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run of the tests share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def made_once(common: Path) -> Callable[[str, Callable[[Path], object]], Path]:
    """Gives the folder of a name; the first process that asks for it fills it, the others wait until it is whole."""

    def get(name: str, fill: Callable[[Path], object]) -> Path:
        with (common / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (common / name).exists():
                part = Path(tempfile.mkdtemp(dir=common))
                fill(part)
                part.rename(common / name)
        return common / name

    return get


@pytest.fixture(scope="session", autouse=True)
def _own_cache(common: Path) -> None:
    """Keep the tests' word lists and tries out of the user's cache."""
    os.environ["GLISSANDO_CACHE"] = str(common / "cache")


@pytest.fixture(scope="session")
def tiny_weights(made_once) -> Path:
    """An encoder with random weights, exported: small, quick, and right in every shape."""
    torch = pytest.importorskip("torch")
    from glissando.export.onnx import export_encoder
    from glissando.model.config import EncoderConfig
    from glissando.model.encoder import Encoder
    from glissando.weights import write_card

    def export(folder: Path) -> None:
        torch.manual_seed(0)
        encoder = Encoder(EncoderConfig(width=16, hidden=32, dilations=(1, 2))).eval()
        with torch.no_grad():  # the heads start at zero, which would make every key alike
            for parameter in encoder.parameters():
                parameter.add_(0.1 * torch.randn_like(parameter))
        export_encoder(encoder, folder / "tiny.onnx")
        write_card(folder / "tiny.onnx", {"config": encoder.config.to_dict(), "provenance": "random, for tests"})

    return made_once("tiny_weights", export) / "tiny.onnx"


@pytest.fixture(scope="session")
def tiny_decoder(tiny_weights: Path, made_once) -> Path:
    """A decoder with random weights for that encoder on QWERTY, its keys from a to z."""
    torch = pytest.importorskip("torch")
    from glissando.export.onnx import export_decoder
    from glissando.layout import Layout, load_layout
    from glissando.model.config import DecoderConfig
    from glissando.model.decoder import Decoder
    from glissando.weights import load_weights, write_card

    def export(folder: Path) -> None:
        torch.manual_seed(1)
        decoder = Decoder(DecoderConfig(hidden=16, bottleneck=8, context=2, blocks=2)).eval()
        with torch.no_grad():
            for parameter in decoder.parameters():
                parameter.add_(0.3 * torch.randn_like(parameter))
        path, qwerty = folder / "tiny_decoder.onnx", load_layout("qwerty")
        export_decoder(decoder, path, frames=32)
        layout = Layout("qwerty", tuple(sorted(qwerty.keys, key=lambda key: key.letter))).to_dict()
        write_card(path, {"layout": layout, "language": "en", "encoder": load_weights(tiny_weights).card["sha256"]})

    return made_once("tiny_decoder", export) / "tiny_decoder.onnx"
