"""``glissando export``: from a training run's weights to the file that decodes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from glissando.cli import export_bundle

app = typer.Typer(
    help="Turn trained weights into files that decode without torch.", no_args_is_help=True, rich_markup_mode="markdown"
)
app.command()(export_bundle.bundle)


@app.callback()
def _group() -> None:
    """Turn trained weights into files that decode without torch."""


@app.command()
def onnx(
    checkpoint: Annotated[Path, typer.Argument(help="A run's encoder.safetensors.", show_default=False)],
    output: Annotated[Path, typer.Argument(help="The .onnx file to write.", show_default=False)],
    note: Annotated[str | None, typer.Option(help="Where the weights come from, in words, for their JSON.")] = None,
) -> None:
    """Write an encoder as one ONNX file, and a JSON beside it.

    The JSON holds the network's config, the settings it was trained with, what its run measured, and the file's
    checksum, which is compared whenever the weights are loaded.

    Examples:

        glissando export onnx runs/one/encoder.safetensors one.onnx

        glissando export onnx runs/one/encoder.safetensors one.onnx --note "our users, June"

        glissando evaluate swipes.jsonl.gz --weights one.onnx
    """
    from glissando.errors import MissingExtraError, WeightsError
    from glissando.weights import write_card

    try:
        from glissando.export.onnx import export_encoder
        from glissando.model.checkpoint import load_encoder
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"exporting needs {error.name}: pip install 'glissando[export]'") from None
    if output.suffix != ".onnx":
        raise WeightsError(f"the file to write must end in .onnx, got {output}")
    encoder, extra = load_encoder(checkpoint)
    export_encoder(encoder, output)
    parameters = sum(parameter.numel() for parameter in encoder.parameters())
    card = {
        "config": encoder.config.to_dict(),
        "parameters": parameters,
        "provenance": _provenance(extra, note),
        "metrics": extra.get("metrics", {}),
    }
    write_card(output, card)
    typer.echo(f"{output}: {output.stat().st_size / 1e6:.1f} MB, {parameters:,} parameters")


def _provenance(extra: dict[str, Any], note: str | None) -> dict[str, Any]:
    """How the weights came about, fit to be published: files are named, their directories are not."""
    found: dict[str, Any] = {"note": note} if note else {}
    training = extra.get("training", {})
    if "corpus" in training:
        found["corpus"] = training["corpus"]
    if "config" in training:
        settings = dict(training["config"])
        settings["teachers"] = [Path(file).name for file in settings.get("teachers", ())]
        settings["synthetic_words"] = Path(settings.get("synthetic_words", "")).name
        found["settings"] = settings
    return found
