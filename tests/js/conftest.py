"""What the tests of the JavaScript package share."""

import pytest
from js.running import TWICE, export, find_node, first_words, lexicon, write_kit

import glissando
from glissando.layout import load_layout
from glissando.lexicon import join_lexicons


@pytest.fixture(scope="session")
def node():
    """Node with onnxruntime-web beside the package."""
    return find_node()


@pytest.fixture(scope="session")
def bundle(node, tmp_path_factory):
    """QWERTY with the packaged encoder, matcher and context."""
    keyboard = glissando.load("qwerty", "en", lexicon=lexicon())
    return export(keyboard, tmp_path_factory.mktemp("browser") / "bundle", 60)


@pytest.fixture(scope="session")
def lists():
    """Short word lists by language."""
    return {code: first_words(code) for code in ("de", "en")}


@pytest.fixture(scope="session")
def small_kit(node, lists, tmp_path_factory):
    """The folder of a kit with these words on QWERTY, and on a layout with a letter twice."""
    return write_kit(tmp_path_factory.mktemp("kit"), [load_layout("qwerty"), TWICE], lists)


@pytest.fixture(scope="session")
def bilingual(lists):
    """The keyboard of German and English on QWERTY that the kit makes, in Python."""
    return glissando.load("qwerty", lexicon=join_lexicons(list(lists.values())))
