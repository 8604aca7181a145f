"""Three small networks and the files they are exported to, made once: an export takes seconds."""

from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Exported:
    """Networks in torch, and the folder with ``encoder``, ``decoder`` and ``matcher`` as .safetensors and as .onnx."""

    encoder: object
    decoder: object
    matcher: object
    folder: Path


@pytest.fixture(scope="session")
def exported(made_once) -> Exported:
    pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    from networks import small_decoder, small_encoder, small_matcher

    from glissando.export.checkpoint import ExportOptions, export_checkpoint
    from glissando.layout import load_layout
    from glissando.model.checkpoint import save_decoder, save_encoder, save_matcher

    encoder, decoder, matcher = small_encoder(dilations=(1, 2)), small_decoder(), small_matcher()

    def export(folder: Path) -> None:
        config = {"batch": 7, "teachers": ["private/first.safetensors"], "synthetic_words": "/private/en.txt"}
        extra = {"training": {"config": config, "corpus": "digest"}, "metrics": {"step": 3, "val_ctc": 1.5}}
        save_encoder(folder / "encoder.safetensors", encoder, extra)
        save_decoder(folder / "decoder.safetensors", decoder, extra | {"layout": load_layout("qwerty").to_dict()})
        save_matcher(folder / "matcher.safetensors", matcher, extra)
        for kind in ("encoder", "decoder", "matcher"):
            options = ExportOptions(note="made for a test", encoder=str(folder / "encoder.onnx"))
            export_checkpoint(folder / f"{kind}.safetensors", folder / f"{kind}.onnx", options)

    return Exported(encoder, decoder, matcher, made_once("exported", export))
