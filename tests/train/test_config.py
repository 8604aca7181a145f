import json
from pathlib import Path

import pytest

from glissando.errors import TrainingError
from glissando.train.config import TrainConfig
from glissando.train.pace import PaceConfig
from glissando.weights import load_weights


def test_defaults_are_the_reports_table():
    config = TrainConfig()
    assert (config.batch, config.epochs, config.learning_rate, config.floor_rate) == (1024, 120, 1e-3, 2e-5)
    assert (config.warm_up, config.weight_decay, config.clip, config.emission_weight) == (0.05, 1e-4, 1.0, 0.05)
    assert (config.beta1, config.beta2, config.ema, config.model.dropout) == (0.9, 0.999, 0.0, 0.1)


def test_what_goes_beyond_the_report_is_off_unless_asked_for():
    config = TrainConfig()
    assert (config.augment.upright, config.rearranged, config.synthetic, config.extra_keys) == (0, 0, 0, 0)
    assert (config.part, config.augment.sway) == ((0, 1), (0, 0))
    assert (config.teachers, config.model.frames, config.word_power, config.pace) == ((), 32, 1.0, PaceConfig())
    assert PaceConfig().evened == PaceConfig().coarse == PaceConfig().overshoot == 0


def test_settings_beyond_the_report_are_read():
    settings = ["augment.upright=0.7", "extra_keys=14", "retime=false", "distil=0.3", "graph=false", "pace.evened=0.2"]
    config = TrainConfig().changed([*settings, 'teachers=["a.safetensors", "b.safetensors"]'])
    assert (config.augment.upright, config.extra_keys, config.retime, config.distil) == (0.7, 14, False, 0.3)
    assert (config.graph, config.pace) == (False, PaceConfig(evened=0.2))
    assert config.teachers == ("a.safetensors", "b.safetensors")
    assert TrainConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_settings_reach_nested_sections():
    config = TrainConfig().changed(
        ["batch=2048", "model.frames=64", "augment.y_scale=[0.5, 1]", "ctc=torch", "per_letter=false", "ema=0"]
    )
    assert (config.batch, config.model.frames, config.augment.y_scale) == (2048, 64, (0.5, 1.0))
    assert (config.ctc, config.per_letter, config.ema) == ("torch", False, 0.0)
    assert config.epochs == 120


def test_json_and_back():
    config = TrainConfig().changed(["model.dilations=[1,2]", "seed=4", "augment.rotation=[0,90]"])
    assert TrainConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("bach=3", "no setting bach; there are model, augment"),
        ("model.wdth=3", r"no setting model\.wdth"),
        ("nowhere.x=3", "no section 'nowhere'"),
        ("batch", "name=value"),
        ("batch=many", "batch must be int, got 'many'"),
        ("batch=2.5", "batch must be int"),
        ("batch=true", "batch must be int"),
        ("batch=0", "batch must be at least 1, got 0"),
        ("part=[0.5,0.5]", "part must be"),
        ("learning_rate=NaN", "learning_rate must be float"),
        ("learning_rate=1e-9", "floor_rate must be in"),
        ("ctc=best", "ctc must be one of own, torch, triton; got 'best'"),
        ("synthetic=1.5", "synthetic must be a share"),
        ("augment.shear=[0]", r"augment\.shear must have 2 values"),
        ("augment.shear=0.5", r"augment\.shear must be a list"),
        ("model=3", "must be an object"),
        ("ema=1", r"ema must be in \[0, 1\)"),
        ("extra_keys=-1", "extra_keys must be 0 or more"),
        ("extra_keys=1.5", "extra_keys must be int"),
        ("distil=1.5", r"distil must be a share, in \[0, 1\]"),
        ("teachers=a.safetensors", "teachers must be a list, got 'a.safetensors'"),
        ("teachers=[3]", "teachers must be str, got 3"),
        ("retime=1", "retime must be bool, got 1"),
        ("graph=yes", "graph must be bool, got 'yes'"),
        ("augment.upright=2", r"augment\.upright is a probability, got 2"),
        ("pace.even_out=1", r"no setting pace\.even_out; there are evened"),
    ],
)
def test_wrong_settings_say_what_they_need(setting, message):
    with pytest.raises(TrainingError, match=message):
        TrainConfig().changed([setting])


def test_shares_must_leave_room():
    with pytest.raises(TrainingError, match="together with rearranged"):
        TrainConfig(rearranged=0.7, synthetic=0.4)


def test_the_script_of_the_shipped_weights_has_the_settings_they_were_trained_with():
    script = (Path(__file__).parents[2] / "runs" / "encoder.sh").read_text(encoding="utf-8")
    block = script.split("settings=(\n", 1)[1].split("\n)", 1)[0]
    settings = [setting for line in block.splitlines() for setting in line.split("#")[0].split()]
    shipped = load_weights("encoder").card["provenance"]["settings"]
    assert TrainConfig().changed(settings) == TrainConfig.from_dict(shipped)
