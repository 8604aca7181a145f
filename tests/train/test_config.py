"""The settings of all trainings; how they are read is tested in tests/model/test_settings.py."""

from pathlib import Path

import pytest

from glissando.errors import TrainingError
from glissando.train.decoder.config import DecoderTraining, EmbedderTraining, MiningConfig
from glissando.train.encoder.config import EncoderTraining
from glissando.weights import load_weights

RUNS = Path(__file__).parents[2] / "runs"
BOOKKEEPING = {"checkpoint_seconds", "snapshot_every"}  # they do not change the weights


@pytest.mark.parametrize(
    ("kind", "setting", "message"),
    [
        (EncoderTraining, "part=[0.5,0.5]", "part must be"),
        (EncoderTraining, "learning_rate=1e-9", "floor_rate must be at most learning_rate 1e-09"),
        (EncoderTraining, "ctc=torch", "ctc must be one of auto, own, triton; got 'torch'"),
        (EncoderTraining, "augment.upright=2", r"augment\.upright must lie in \[0, 1\], got 2"),
        (EncoderTraining, "synthetic=0.3", "the setting synthetic is gone.*e0aec40"),
        (DecoderTraining, "epochs=0", r"epochs must lie in \[1, inf\), got 0"),
        (EmbedderTraining, "strangers=-1", "strangers must lie in"),
        (MiningConfig, "pool=0", "pool must lie in"),
    ],
)
def test_wrong_settings_say_what_they_need(kind, setting, message):
    with pytest.raises(TrainingError, match=message):
        kind().changed([setting])


def settings_of(script: str) -> list[str]:
    """The settings that a script of runs/ trains with."""
    block = (RUNS / script).read_text(encoding="utf-8").split("settings=(\n", 1)[1].split("\n)", 1)[0]
    return [setting for line in block.splitlines() for setting in line.split("#")[0].split()]


@pytest.mark.parametrize("name", ["encoder", "judge"])
def test_the_settings_of_shipped_encoders_are_still_read(name):
    shipped = EncoderTraining.from_dict(load_weights(name).card["provenance"]["settings"])
    assert shipped.rearranged == {"encoder": 0.4, "judge": 1}[name]
    if name == "encoder":
        assert EncoderTraining().changed(settings_of("encoder.sh")) == shipped


def test_the_script_of_the_shipped_decoder_has_the_settings_it_was_trained_with():
    shipped = load_weights("decoder").card["provenance"]["settings"]  # it may name settings of the past
    mine = DecoderTraining().changed(settings_of("decoder.sh")).to_dict()
    compared = mine.keys() - BOOKKEEPING
    assert {name: shipped.get(name) for name in compared} == {name: mine[name] for name in compared}
