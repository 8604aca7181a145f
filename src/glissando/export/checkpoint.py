"""From a training run's checkpoint to the file that decodes: the network in one format, and its card beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glissando.errors import WeightsError
from glissando.export import executorch, onnx
from glissando.layout import Layout
from glissando.model.checkpoint import (
    DECODER_FORMAT,
    MATCHER_FORMAT,
    load_decoder,
    load_encoder,
    load_matcher,
    read_format,
)
from glissando.weights import load_weights, write_card


@dataclass(frozen=True)
class ExportOptions:
    """How a checkpoint is exported.

    Attributes:
        precision: of the file's ``PRECISIONS``.
        note: where the weights come from, in words, for the card.
        encoder: for a decoder as ONNX, the encoder it was trained over: a packaged one or an ``.onnx`` file.
        language: for a decoder as ONNX, the language of the words it was trained on.
        frames: for a decoder as ``.pte``, the frames of the encoder it corrects.
    """

    precision: str = "fp32"
    note: str | None = None
    encoder: str = "encoder"
    language: str = "en"
    frames: int = onnx.FRAMES


def export_checkpoint(checkpoint: Path, output: Path, options: ExportOptions) -> dict[str, Any]:
    """Write an encoder, decoder or matcher as ``.onnx`` or ``.pte``, by ``output``'s suffix, and its card beside it.

    Returns:
        The card. It names files but not their directories, so that it can be published.
    """
    forms: dict[str, Any] = {".onnx": onnx, ".pte": executorch}
    if output.suffix not in forms:
        raise WeightsError(f"the file to write must end in {' or '.join(forms)}, got {output}")
    form = forms[output.suffix]
    network: Any
    facts: dict[str, Any] = {}
    kind = read_format(checkpoint)
    if kind == MATCHER_FORMAT:
        network, extra = load_matcher(checkpoint)
        form.export_matcher(network, output, options.precision)
    elif kind == DECODER_FORMAT:
        network, extra = load_decoder(checkpoint)
        facts["layout"] = _layout(extra, checkpoint)
        frames = options.frames
        if form is onnx:
            base = load_weights(options.encoder).card
            frames = base.get("config", {}).get("frames", onnx.FRAMES)
            facts |= {"language": options.language, "encoder": base["sha256"]}
        form.export_decoder(network, output, frames, options.precision)
    else:
        network, extra = load_encoder(checkpoint)
        form.export_encoder(network, output, options.precision)
    card = {
        "config": network.config.to_dict(),
        "precision": options.precision,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        **facts,
        "provenance": _provenance(extra, options.note),
    }
    if form is onnx:
        card["metrics"] = extra.get("metrics", {})
    write_card(output, card)
    return card


def _layout(extra: dict[str, Any], checkpoint: Path) -> dict[str, Any]:
    """The layout that a decoder's checkpoint is bound to."""
    if "layout" not in extra:
        raise WeightsError(f"checkpoint {checkpoint} does not say which layout its decoder belongs to")
    return Layout.from_dict(extra["layout"]).to_dict()


def _provenance(extra: dict[str, Any], note: str | None) -> dict[str, Any]:
    """How the weights were made: the note, the corpus and the settings of the training run."""
    provenance: dict[str, Any] = {"note": note} if note else {}
    training = extra.get("training", {})
    if "corpus" in training:
        provenance["corpus"] = training["corpus"]
    if "config" in training:
        settings = dict(training["config"])
        if "teachers" in settings:
            settings["teachers"] = [Path(file).name for file in settings["teachers"]]
        if "synthetic_words" in settings:
            settings["synthetic_words"] = Path(settings["synthetic_words"]).name
        provenance["settings"] = settings
    return provenance
