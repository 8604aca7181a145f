"""``glissando export``: from a training run's weights to the file that decodes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from glissando.cli import export_bundle, export_device

app = typer.Typer(
    help="Turn trained weights into files that decode without torch.", no_args_is_help=True, rich_markup_mode="markdown"
)
app.command()(export_bundle.bundle)
app.command()(export_device.executorch)
app.command()(export_device.verify)


@app.callback()
def _group() -> None:
    """Turn trained weights into files that decode without torch."""


@app.command()
def onnx(
    checkpoint: Annotated[Path, typer.Argument(help="A run's encoder or decoder, .safetensors.", show_default=False)],
    output: Annotated[Path, typer.Argument(help="The .onnx file to write.", show_default=False)],
    note: Annotated[str | None, typer.Option(help="Where the weights come from, in words, for their JSON.")] = None,
    encoder: Annotated[
        str, typer.Option(help="The encoder that a decoder was trained over: a packaged one or an .onnx file.")
    ] = "encoder",
    language: Annotated[str, typer.Option(help="The language of the words that a decoder was trained on.")] = "en",
    precision: Annotated[
        str, typer.Option(help="fp32; fp16 for matrices in half the room; int8 for integer products.")
    ] = "fp32",
) -> None:
    """Write an encoder or a decoder as one ONNX file, and a JSON beside it.

    The JSON holds the network's config, the settings it was trained with, what its run measured, and the file's
    checksum, which is compared whenever the weights are loaded. That of a decoder also names the layout, the encoder
    and the language it belongs to: a keyboard with others does without it.

    Examples:

        glissando export onnx runs/one/encoder.safetensors one.onnx

        glissando export onnx runs/one/encoder.safetensors one.onnx --note "our users, June"

        glissando export onnx runs/one/encoder.safetensors small.onnx --precision fp16

        glissando export onnx runs/two/decoder.safetensors two.onnx --encoder one.onnx

        glissando evaluate swipes.jsonl.gz --weights one.onnx --decoder two.onnx --method decoder
    """
    from glissando.errors import MissingExtraError, WeightsError
    from glissando.weights import load_weights, write_card

    try:
        from glissando.export.onnx import export_decoder, export_encoder
        from glissando.export.reduced import PRECISIONS, reduce_file
        from glissando.model.checkpoint import DECODER_FORMAT, load_decoder, load_encoder, read_format
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"exporting needs {error.name}: pip install 'glissando[export]'") from None
    if output.suffix != ".onnx":
        raise WeightsError(f"the file to write must end in .onnx, got {output}")
    if precision not in PRECISIONS:
        raise WeightsError(f"no precision {precision!r} for ONNX; there are {', '.join(PRECISIONS)}")
    card: dict[str, Any] = {}
    if read_format(checkpoint) == DECODER_FORMAT:
        decoder, extra = load_decoder(checkpoint)
        base = load_weights(encoder).card
        frames = base.get("config", {}).get("frames", 64)
        card = {"layout": _layout(extra, checkpoint), "language": language, "encoder": base["sha256"]}
        export_decoder(decoder, output, frames)
        network: Any = decoder
    else:
        network, extra = load_encoder(checkpoint)
        export_encoder(network, output)
    reduce_file(output, precision)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    card = {
        "config": network.config.to_dict(),
        "precision": precision,
        "parameters": parameters,
        **card,
        "provenance": _provenance(extra, note),
        "metrics": extra.get("metrics", {}),
    }
    write_card(output, card)
    typer.echo(f"{output}: {output.stat().st_size / 1e6:.1f} MB, {parameters:,} parameters")


def _layout(extra: dict[str, Any], checkpoint: Path) -> dict[str, Any]:
    """The layout that a decoder's checkpoint is bound to."""
    from glissando.errors import WeightsError
    from glissando.layout import Layout

    if "layout" not in extra:
        raise WeightsError(f"checkpoint {checkpoint} does not say which layout its decoder belongs to")
    return Layout.from_dict(extra["layout"]).to_dict()


def _provenance(extra: dict[str, Any], note: str | None) -> dict[str, Any]:
    """How the weights came about, fit to be published: files are named, their directories are not."""
    found: dict[str, Any] = {"note": note} if note else {}
    training = extra.get("training", {})
    if "corpus" in training:
        found["corpus"] = training["corpus"]
    if "config" in training:
        settings = dict(training["config"])
        if "teachers" in settings:
            settings["teachers"] = [Path(file).name for file in settings["teachers"]]
        if "synthetic_words" in settings:
            settings["synthetic_words"] = Path(settings["synthetic_words"]).name
        found["settings"] = settings
    return found
