"""What the tests of the JavaScript package share."""

import pytest
from js.running import export, find_node, lexicon

import glissando


@pytest.fixture(scope="session")
def node():
    """Node with onnxruntime-web beside the package."""
    return find_node()


@pytest.fixture(scope="session")
def bundle(node, tmp_path_factory):
    """QWERTY with the packaged encoder, matcher and context."""
    keyboard = glissando.load("qwerty", "en", lexicon=lexicon())
    return export(keyboard, tmp_path_factory.mktemp("browser") / "bundle", 60)
