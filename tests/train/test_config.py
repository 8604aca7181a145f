"""The settings of all trainings; how they are read is tested in tests/model/test_settings.py."""

from pathlib import Path

import pytest

from glissando.errors import TrainingError
from glissando.train.decoder.config import DecoderTraining, EmbedderTraining, MiningConfig
from glissando.train.encoder.config import EncoderTraining
from glissando.weights import load_weights

RUNS = Path(__file__).parents[2] / "runs"
BOOKKEEPING = {"checkpoint_seconds", "snapshot_every"}  # they do not change the weights


def test_the_encoders_defaults_are_the_reports_table():
    config = EncoderTraining()
    assert (config.batch, config.epochs, config.learning_rate, config.floor_rate) == (1024, 120, 1e-3, 2e-5)
    assert (config.warm_up, config.weight_decay, config.clip, config.emission_weight) == (0.05, 1e-4, 1.0, 0.05)
    assert (config.beta1, config.beta2, config.ema, config.model.dropout) == (0.9, 0.999, 0.0, 0.1)


def test_what_goes_beyond_the_report_is_off_unless_asked_for():
    config = EncoderTraining()
    assert (config.augment.upright, config.augment.sway, config.rearranged, config.extra_keys) == (0, (0, 0), 0, 0)
    assert (config.part, config.model.frames, config.word_power) == ((0, 1), 32, 1.0)


def test_the_decoders_defaults_are_the_reports_table():
    config = DecoderTraining()
    assert (config.batch, config.epochs, config.learning_rate, config.warm_up) == (2048, 100, 3e-4, 3.0)
    assert (config.beta1, config.beta2, config.weight_decay, config.clip) == (0.9, 0.98, 3e-3, 1.0)
    assert (config.ctc_weight, config.ranking_weight, config.consistency_weight) == (0.3, 5.0, 0.1)
    assert (config.ema, config.model.dropout, config.negatives, config.mu, config.sigma) == (0.999, 0.05, 15, 10.0, 1.0)
    assert (config.gamma, config.weight, config.bonus, config.scorer_rate) == (0.30, 0.025, 1.80, 5e-3)


@pytest.mark.parametrize(
    ("kind", "setting", "message"),
    [
        (EncoderTraining, "part=[0.5,0.5]", "part must be"),
        (EncoderTraining, "learning_rate=1e-9", "floor_rate must be at most learning_rate 1e-09"),
        (EncoderTraining, "ctc=torch", "ctc must be one of auto, own, triton; got 'torch'"),
        (EncoderTraining, "augment.upright=2", r"augment\.upright must lie in \[0, 1\], got 2"),
        (EncoderTraining, "synthetic=0.3", "the setting synthetic is gone.*e0aec40"),
        (EncoderTraining, 'teachers=["a"]', "the setting teachers is gone"),
        (EncoderTraining, "pace.evened=0.2", "no section 'pace'"),
        (DecoderTraining, "epochs=0", r"epochs must lie in \[1, inf\), got 0"),
        (DecoderTraining, "sigma=0", r"sigma must lie in \(0, inf\), got 0"),
        (DecoderTraining, "ema=1", r"ema must lie in \[0, 1\), got 1"),
        (DecoderTraining, "holdout=1", "holdout must lie in"),
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
