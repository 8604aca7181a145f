import json

import pytest

from glissando.errors import TrainingError
from glissando.model.config import EncoderConfig


def test_survives_json():
    config = EncoderConfig(frames=64, dilations=(1, 4), basis="grid", blank="joint", dropout=0.0)
    assert EncoderConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_fields_left_out_keep_the_reports_values():
    assert EncoderConfig.from_dict({"resolution": 10}) == EncoderConfig(resolution=10)


def test_unknown_field_is_named_with_the_known_ones():
    with pytest.raises(TrainingError, match=r"no field 'widht'; it has points, frames, width"):
        EncoderConfig.from_dict({"widht": 128})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"frames": 48}, "got 48 of 64"),
        ({"points": 63, "frames": 63}, "got 63 of 63"),
        ({"kernel": 6}, "kernel 6"),
        ({"width": 130}, "width 130"),
        ({"width": 128.0}, "width must be positive and whole, got 128.0"),
        ({"resolution": 0}, "resolution must be positive"),
        ({"dilations": ()}, "dilations"),
        ({"dilations": (1, 0)}, "dilations must be positive"),
        ({"basis": "wavelet"}, "no basis 'wavelet'; there are cosine, grid"),
        ({"blank": "none"}, "there are gate, joint"),
        ({"dropout": 1.0}, "dropout must lie in"),
    ],
)
def test_refuses_what_is_no_encoder(changes, message):
    with pytest.raises(TrainingError, match=message):
        EncoderConfig.from_dict(changes)
