import json
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pytest

from glissando.errors import TrainingError
from glissando.model.config import DecoderConfig, EmbedderConfig, EncoderConfig
from glissando.model.settings import Config, setting


@dataclass(frozen=True)
class Training(Config):
    """Settings of every kind."""

    removed: ClassVar = {"pace": {"share": 0}, "noise": 0, "teachers": [], "shape": {}}
    model: EncoderConfig = field(default_factory=EncoderConfig)
    batch: int = setting(1024, "[1, inf)")
    rate: float = setting(1e-3, "(0, 1)")
    kind: Literal["own", "other"] = "own"
    graph: bool = True
    span: tuple[float, float] = setting((0.0, 1.0), "[0, 1]")
    floor: float | None = setting(None, "(-inf, 0)")


def test_settings_reach_sections_and_survive_json():
    changes = ["batch=2048", "model.frames=64", "model.dilations=[1,2]", "span=[0, 1]", "kind=other", "graph=false"]
    config = Training().changed(changes)
    assert (config.batch, config.model.frames, config.model.dilations) == (2048, 64, (1, 2))
    assert (config.span, config.kind, config.graph, config.floor) == ((0.0, 1.0), "other", False, None)
    assert Training.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert Training.from_dict({"floor": -2}).floor == -2.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bach=3", "no setting bach; there are model, batch"),
        ("model.wdth=3", r"no setting model\.wdth; there are points, frames, width"),
        ("nowhere.x=3", "no section 'nowhere'"),
        ("batch", "name=value"),
        ("batch=many", "batch must be int, got 'many'"),
        ("batch=true", "batch must be int"),
        ("batch=0", r"batch must lie in \[1, inf\), got 0"),
        ("rate=NaN", "rate must be float"),
        ("rate=1", r"rate must lie in \(0, 1\), got 1"),
        ("kind=best", "kind must be one of own, other; got 'best'"),
        ("span=[0]", "span must have 2 values"),
        ("span=[0,2]", r"span must lie in \[0, 1\]"),
        ("floor=1", "floor must lie in"),
        ("model=3", "must be an object"),
        ("graph=yes", "graph must be bool, got 'yes'"),
    ],
)
def test_wrong_settings_say_what_they_need(text, message):
    with pytest.raises(TrainingError, match=message):
        Training().changed([text])


def test_values_given_by_hand_are_checked_too():
    with pytest.raises(TrainingError, match="batch must lie in"):
        Training(batch=0)
    assert Training(span=[0, 1]).span == (0.0, 1.0)


def test_removed_settings_are_read_where_they_did_nothing():
    neutral = {"pace": {"share": 0.0, "most": 0.9}, "noise": 0.0, "teachers": [], "shape": [3, 4]}
    assert Training.from_dict({"batch": 8, **neutral}) == Training(batch=8)
    for name, value in (("pace", {"share": 0.1}), ("noise", 0.5), ("teachers", ["a"])):
        with pytest.raises(TrainingError, match=f"the setting {name}.* is gone"):
            Training.from_dict({name: value})


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        (EncoderConfig, {"frames": 48}, "got 48 of 64"),
        (EncoderConfig, {"points": 63, "frames": 63}, "got 63 of 63"),
        (EncoderConfig, {"kernel": 6}, "kernel 6"),
        (EncoderConfig, {"width": 130}, "width 130"),
        (EncoderConfig, {"dilations": ()}, "dilations must be a list"),
        (DecoderConfig, {"floor": 1.0}, "floor must lie in"),
        (EmbedderConfig, {"points": 60}, "3 blocks cannot halve 60 points evenly"),
    ],
)
def test_impossible_networks_are_refused(kind, changes, message):
    with pytest.raises(TrainingError, match=message):
        kind.from_dict(changes)
