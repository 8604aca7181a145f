"""``glissando export executorch`` and ``glissando export verify``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glissando.cli.decode import LexiconOption, ScoringOption, WeightsOption

if TYPE_CHECKING:
    from glissando.export.verify import Verdict
    from glissando.gesture import Gesture
    from glissando.layout import Layout


def executorch(
    checkpoint: Annotated[Path, typer.Argument(help="A run's encoder or decoder, .safetensors.", show_default=False)],
    output: Annotated[Path, typer.Argument(help="The .pte file to write.", show_default=False)],
    precision: Annotated[
        str, typer.Option(help="fp32; mixed for the later blocks in half precision, both ends in float32.")
    ] = "fp32",
    frames: Annotated[int, typer.Option(help="Frames of the encoder that a decoder corrects.")] = 64,
    note: Annotated[str | None, typer.Option(help="Where the weights come from, in words, for their JSON.")] = None,
) -> None:
    """Write an encoder or a decoder as an ExecuTorch program for XNNPACK, and a JSON beside it.

    Inputs are the report's: one path, 64 key centres, a mask. Needs the extra `executorch`.

    Examples:

        glissando export executorch runs/one/encoder.safetensors one.pte

        glissando export executorch runs/one/encoder.safetensors small.pte --precision mixed
    """
    from glissando.cli.export import _layout, _provenance
    from glissando.errors import MissingExtraError, WeightsError
    from glissando.weights import write_card

    try:
        from glissando.export.executorch import export_decoder, export_encoder
        from glissando.model.checkpoint import DECODER_FORMAT, load_decoder, load_encoder, read_format
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"exporting needs {error.name}: pip install 'glissando[executorch]'") from None
    if output.suffix != ".pte":
        raise WeightsError(f"the file to write must end in .pte, got {output}")
    card: dict[str, Any] = {}
    network: Any
    if read_format(checkpoint) == DECODER_FORMAT:
        network, extra = load_decoder(checkpoint)
        card = {"layout": _layout(extra, checkpoint)}
        export_decoder(network, output, precision, frames)
    else:
        network, extra = load_encoder(checkpoint)
        export_encoder(network, output, precision)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    card = {
        "config": network.config.to_dict(),
        "precision": precision,
        "parameters": parameters,
        **card,
        "provenance": _provenance(extra, note),
    }
    write_card(output, card)
    typer.echo(f"{output}: {output.stat().st_size / 1e6:.1f} MB, {parameters:,} parameters")


def verify(
    files: Annotated[list[Path], typer.Argument(help=".onnx and .pte files of one checkpoint.", show_default=False)],
    checkpoint: Annotated[Path, typer.Option(help="The .safetensors they were made of.", show_default=False)],
    swipes: Annotated[
        Path | None, typer.Option(help="JSON lines to decode, all on one layout; by default swipes are made up.")
    ] = None,
    layout: Annotated[str, typer.Option(help="The layout: a built-in one or a .json file.")] = "qwerty",
    lexicon: LexiconOption = None,
    scoring: ScoringOption = "auto",
    weights: WeightsOption = "encoder",
    count: Annotated[
        int | None, typer.Option(min=1, help="Swipes to try; by default all, or 200 made-up ones.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Hold exported files against the checkpoint they were made of; exit status 1 if one differs too much.

    Of the emissions above -20, 99.9 % must be within 0.0001 of torch's (files of reduced precision: 0.02), and the best
    word must be the same for 99.9 % of the swipes (99.5 %). `--weights` is the encoder that feeds a decoder.

    Examples:

        glissando export verify one.onnx one.pte small.pte --checkpoint runs/one/encoder.safetensors

        glissando export verify one.onnx --checkpoint runs/one/encoder.safetensors --swipes how_we_swipe_val.jsonl.gz
    """
    from glissando.cli.progress import bar
    from glissando.errors import MissingExtraError
    from glissando.keyboard import load
    from glissando.layout import load_layout
    from glissando.lexicon import load_lexicon

    try:
        from glissando.export.verify import Reference
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"verifying needs {error.name}: pip install 'glissando[export]'") from None
    found = load_layout(layout)
    gestures, words = _swipes(swipes, found, count)
    listed = load_lexicon(lexicon or found.language or "en").with_words(words)
    keyboard = load(found, lexicon=listed, scoring=scoring, weights=weights, method="encoder")
    reference = Reference(checkpoint, keyboard, gestures)
    verdicts = []
    for file in files:
        with bar(file.name) as progress:
            verdicts.append(reference.check(file, progress))
    if as_json:
        print(json.dumps([verdict.to_dict() for verdict in verdicts], indent=2))
    else:
        _print_verdicts(verdicts)
    if not all(verdict.passed for verdict in verdicts):
        raise typer.Exit(1)


def _swipes(file: Path | None, layout: Layout, count: int | None) -> tuple[list[Gesture], list[str]]:
    """Gestures and the words they mean: of a file, or made up."""
    from glissando.cli.bench import made_up, recorded

    return recorded(file, layout, count) if file else made_up(layout, None, count or 200)


def _print_verdicts(verdicts: Sequence[Verdict]) -> None:
    """A row per file."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from glissando.export.verify import LIKELY, SHARE

    table = Table(
        title=f"against torch on {verdicts[0].swipes:,} swipes", title_justify="left", box=SIMPLE_HEAD, padding=0
    )
    table.add_column("file", no_wrap=True)
    for column in ("MB", f"{SHARE} % within", "worst", "same word, %", "passed"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in verdicts:
        table.add_row(
            one.file, f"{one.megabytes:.2f}", f"{one.emissions:.1e} ({one.bar.emissions:.0e})", f"{one.worst:.0e}",
            f"{one.agreement:.2f} ({one.bar.agreement})", "yes" if one.passed else "NO",
        )  # fmt: skip
    console = Console()
    console.print(table)
    console.print(f"log-emissions above {LIKELY:.0f}; the best of the words that the beam finds")
