import json
from pathlib import Path

import pytest

from glissando.errors import TrainingError
from glissando.train.decoder_config import DecoderTraining
from glissando.weights import load_weights

BOOKKEEPING = {"checkpoint_seconds", "snapshot_every"}  # change nothing of what comes out


def test_defaults_are_the_reports_table():
    config = DecoderTraining()
    assert (config.batch, config.epochs, config.learning_rate, config.warm_up) == (2048, 100, 3e-4, 3.0)
    assert (config.beta1, config.beta2, config.weight_decay, config.clip) == (0.9, 0.98, 3e-3, 1.0)
    assert (config.ctc_weight, config.ranking_weight, config.consistency_weight) == (0.3, 5.0, 0.1)
    assert (config.ema, config.model.dropout, config.negatives, config.mu, config.sigma) == (0.999, 0.05, 15, 10.0, 1.0)
    assert (config.gamma, config.weight, config.bonus, config.scorer_rate) == (0.30, 0.025, 1.80, 5e-3)


def test_settings_are_read_and_kept_as_json():
    config = DecoderTraining().changed(["batch=16", "model.blocks=2", "consistency_weight=0", "ctc=own"])
    found = json.loads(json.dumps(config.to_dict()))
    assert (found["batch"], found["model"]["blocks"], found["consistency_weight"], found["ctc"]) == (16, 2, 0, "own")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("ranking=softmax", "no setting ranking; there are model, batch"),
        ("epochs=0", "epochs must be at least 1, got 0"),
        ("sigma=0", "sigma must be above 0, got 0"),
        ("ema=1", r"ema must be in \[0, 1\), got 1"),
        ("gate=-1", "gate must be 0 or more, got -1"),
        ("holdout=1", r"holdout must be in \[0, 1\), got 1"),
        ("ctc=best", "ctc must be one of auto, own, triton; got 'best'"),
    ],
)
def test_wrong_settings_say_what_they_need(setting, message):
    with pytest.raises(TrainingError, match=message):
        DecoderTraining().changed([setting])


def test_the_script_of_the_shipped_decoder_has_the_settings_it_was_trained_with():
    script = (Path(__file__).parents[2] / "runs" / "decoder.sh").read_text(encoding="utf-8")
    block = script.split("settings=(\n", 1)[1].split("\n)", 1)[0]
    settings = [setting for line in block.splitlines() for setting in line.split("#")[0].split()]
    shipped = load_weights("decoder").card["provenance"]["settings"]  # an account: it may name settings of the past
    mine = DecoderTraining().changed(settings).to_dict()
    compared = mine.keys() - BOOKKEEPING
    assert {name: shipped.get(name) for name in compared} == {name: mine[name] for name in compared}
