import pytest

from glissando.errors import WeightsError
from glissando.weights import load_weights, write_card


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a graph, but bytes")
    write_card(path, {"provenance": "a test"})
    return path


def test_a_whole_file_is_read_with_its_card(model):
    weights = load_weights(model)
    assert weights.data == b"not a graph, but bytes"
    assert weights.card["provenance"] == "a test"


def test_a_changed_byte_is_found(model):
    model.write_bytes(b"not a graph, but bytez")
    with pytest.raises(WeightsError, match="damaged: SHA-256"):
        load_weights(model)


@pytest.mark.parametrize(("card", "message"), [("{", "cannot be read"), ("{}", "no sha256"), ("[]", "no sha256")])
def test_a_bad_card(model, card, message):
    model.with_suffix(".json").write_text(card)
    with pytest.raises(WeightsError, match=message):
        load_weights(model)


def test_missing_files_and_names(model, tmp_path):
    model.with_suffix(".json").unlink()
    with pytest.raises(WeightsError, match=r"cannot read model file .*model\.json"):
        load_weights(model)
    with pytest.raises(WeightsError, match="no weights 'nothing'"):
        load_weights("nothing")
