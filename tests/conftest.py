"""What every test may ask for."""

import os
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


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the tests' word lists and tries out of the user's cache."""
    os.environ["GLISSANDO_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def tiny_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder with random weights, exported: small, quick, and right in every shape."""
    torch = pytest.importorskip("torch")
    from glissando.export.onnx import export_encoder
    from glissando.model.config import EncoderConfig
    from glissando.model.encoder import Encoder
    from glissando.weights import write_card

    torch.manual_seed(0)
    encoder = Encoder(EncoderConfig(width=16, hidden=32, dilations=(1, 2))).eval()
    with torch.no_grad():  # the heads start at zero, which would make every key alike
        for parameter in encoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    path = tmp_path_factory.mktemp("weights") / "tiny.onnx"
    export_encoder(encoder, path)
    write_card(path, {"config": encoder.config.to_dict(), "provenance": "random, for tests"})
    return path


@pytest.fixture(scope="session")
def tiny_decoder(tiny_weights: Path) -> Path:
    """A decoder with random weights for that encoder on QWERTY, its keys from a to z."""
    torch = pytest.importorskip("torch")
    from glissando.export.onnx import export_decoder
    from glissando.layout import Layout, load_layout
    from glissando.model.config import DecoderConfig
    from glissando.model.decoder import Decoder
    from glissando.weights import load_weights, write_card

    torch.manual_seed(1)
    decoder = Decoder(DecoderConfig(hidden=16, bottleneck=8, context=2, blocks=2)).eval()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    path = tiny_weights.with_name("tiny_decoder.onnx")
    export_decoder(decoder, path, frames=32)
    qwerty = load_layout("qwerty")
    layout = Layout("qwerty", tuple(sorted(qwerty.keys, key=lambda key: key.letter))).to_dict()
    write_card(path, {"layout": layout, "language": "en", "encoder": load_weights(tiny_weights).card["sha256"]})
    return path


@pytest.fixture(scope="session")
def tiny_matcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A matcher with random weights, exported."""
    pytest.importorskip("torch")
    from networks import small_matcher

    from glissando.export.onnx import export_matcher
    from glissando.weights import write_card

    path = tmp_path_factory.mktemp("weights") / "tiny_matcher.onnx"
    export_matcher(small_matcher(), path)
    write_card(path, {"provenance": "random, for tests"})
    return path
