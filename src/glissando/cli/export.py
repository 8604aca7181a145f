"""``glissando export``: from a training run's weights to the files that decode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer import Argument, Option

from glissando.cli import options as opt
from glissando.cli.bench import swipes_to_decode
from glissando.cli.output import bar, needs_extra, print_json, print_table

if TYPE_CHECKING:
    from glissando.export.golden import Golden
    from glissando.export.site import Site
    from glissando.export.verify import Comparison
    from glissando.lexicon import Lexicon

CheckpointArgument = Annotated[
    Path, Argument(help="A run's encoder, decoder or matcher, .safetensors.", show_default=False)
]
NoteOption = Annotated[str | None, Option(help="Where the weights come from, in words, for their JSON.")]

app = typer.Typer(
    help="Turn trained weights into files that decode without torch.", no_args_is_help=True, rich_markup_mode="markdown"
)


@app.command()
def bundle(
    directory: Annotated[Path, Argument(help="Where to; new, empty or an older bundle.", show_default=False)],
    layout: opt.Layout = "qwerty",
    language: opt.Language = None,
    lexicon: opt.Lexicon = None,
    scoring: opt.Scoring = "auto",
    weights: opt.Weights = "encoder",
    matcher: opt.Matcher = "matcher",
    method: Annotated[str, Option(help="encoder; decoder or matcher, to help it; auto, the matcher.")] = "auto",
    beam: opt.Beam = 100,
    golden: Annotated[
        int, Option("--golden", "--swipes", min=50, help="Golden vectors: synthetic swipes to compare with.")
    ] = 240,
    force: Annotated[bool, Option("--force", help="Write into a directory that holds other things.")] = False,
) -> None:
    """Write everything that a program in another language needs to decode on one keyboard into one directory.

    The encoder, the layout, the words as a binary trie, every constant, and golden vectors that show whether a port is
    correct. docs/deployment.md specifies each file.

    **Examples**

        glissando export bundle --layout qwerty --language en english
        glissando export bundle --layout mine.json --lexicon words.txt mine
    """
    from glissando.export.bundle import write_bundle
    from glissando.export.golden import golden_swipes
    from glissando.loading import load

    keyboard = load(
        layout, language, lexicon=lexicon, scoring=scoring, weights=weights, matcher=matcher, width=beam,
        method=cast(Any, method),
    )  # fmt: skip
    with bar("golden vectors") as progress:
        swipes = _counted(golden_swipes(keyboard, golden), golden, progress)
        manifest = write_bundle(keyboard, directory, swipes=swipes, force=force)
    for name, facts in manifest["files"].items():
        typer.echo(f"{facts['bytes']:>12,}  {directory / name}")
    typer.echo(f"{manifest['lexicon']['words']:,} words, {manifest['golden']['swipes']} golden swipes")


@app.command()
def keyboard(
    directory: Annotated[Path, Argument(help="Where to; new, empty or an older keyboard.", show_default=False)],
    languages: Annotated[
        str | None, Option(help="Languages: en,de or all; by default those with a packaged context, and ru.")
    ] = None,
    layouts: opt.Layouts = None,
    lexicon: opt.Lexicon = None,
    language: Annotated[str | None, Option(help="The language of that word list.")] = None,
    runtime: Annotated[
        Path | None, Option(help="Directory of onnxruntime-web; by default fetched once from npm's registry.")
    ] = None,
    title: Annotated[str, Option(help="The name of the keyboard where it is installed.")] = "",
    force: Annotated[bool, Option("--force", help="Write into a directory that holds other things.")] = False,
    as_json: opt.Json = False,
) -> None:
    """Write the whole keyboard as a folder of static files: upload it to a web host, and send its address.

    It decodes in the browser, installs on phones and works offline; no server is behind it. Phones install only from
    HTTPS addresses.

    **Examples**

        glissando export keyboard site
        glissando export keyboard site --languages en,de --title "Our keyboard"
        glissando export keyboard site --layouts mine --lexicon welsh.txt --language cy
    """
    from glissando.export.kit import Kit
    from glissando.export.site import choose_languages, write_site
    from glissando.export.wasm import PACKAGE, WasmRuntime, fetch_runtime
    from glissando.layout import all_layouts
    from glissando.weights import load_weights

    boards, lexicons = all_layouts(layouts), _own_words(lexicon, language)
    codes = choose_languages(languages, boards.values(), lexicons)
    if runtime is None:
        with bar(PACKAGE) as progress:
            found = fetch_runtime(progress)
    else:
        found = WasmRuntime.from_directory(runtime)
    kit = Kit(boards, codes, load_weights("encoder"), load_weights("matcher"), lexicons, found)
    with bar("files") as progress:
        site = write_site(kit, directory, title=title, force=force, progress=progress)
    if as_json:
        print_json({"directory": str(directory), "build": kit.build, **site.to_dict()})
        return
    _print_site(site, directory)


@app.command()
def onnx(
    checkpoint: CheckpointArgument,
    output: Annotated[Path, Argument(help="The .onnx file to write.", show_default=False)],
    note: NoteOption = None,
    encoder: Annotated[str, Option(help="A decoder's encoder: a packaged one or an .onnx file.")] = "encoder",
    language: Annotated[str, Option(help="The language of the words that a decoder was trained on.")] = "en",
    precision: Annotated[str, Option(help="fp32; fp16 (half the space); int8 (integer products).")] = "fp32",
) -> None:
    """Write an encoder, a decoder or a matcher as one ONNX file, and a JSON beside it.

    The JSON holds the network's config, the settings it was trained with, what its run measured, and the file's
    checksum, which is compared whenever the weights are loaded. That of a decoder also names the layout, the encoder
    and the language it belongs to: a keyboard with others does without it.

    **Examples**

        glissando export onnx runs/one/encoder.safetensors one.onnx
        glissando export onnx runs/one/encoder.safetensors one.onnx --note "our users, June"
        glissando export onnx runs/one/encoder.safetensors small.onnx --precision fp16
        glissando export onnx runs/two/decoder.safetensors two.onnx --encoder one.onnx
        glissando export onnx runs/three/matcher.safetensors three.onnx
        glissando evaluate swipes.jsonl.gz --weights one.onnx --decoder two.onnx --method decoder
    """
    _export(checkpoint, output, ".onnx", precision=precision, note=note, encoder=encoder, language=language)


@app.command()
def executorch(
    checkpoint: CheckpointArgument,
    output: Annotated[Path, Argument(help="The .pte file to write.", show_default=False)],
    precision: Annotated[str, Option(help="fp32; mixed (half precision between float32 ends).")] = "fp32",
    frames: Annotated[int, Option(help="Frames of the encoder that a decoder corrects.")] = 64,
    note: NoteOption = None,
) -> None:
    """Write an encoder, a decoder or a matcher as an ExecuTorch program for XNNPACK, and a JSON beside it.

    An encoder's inputs are the report's: one path, 64 key centres, a mask. A matcher takes one path and 16 finalists of
    up to 20 letters, in fp32 only. Needs the extra `executorch`.

    **Examples**

        glissando export executorch runs/one/encoder.safetensors one.pte
        glissando export executorch runs/one/encoder.safetensors small.pte --precision mixed
        glissando export executorch runs/three/matcher.safetensors three.pte
    """
    _export(checkpoint, output, ".pte", precision=precision, note=note, frames=frames)


@app.command()
def verify(
    files: Annotated[list[Path], Argument(help=".onnx and .pte files of one checkpoint.", show_default=False)],
    checkpoint: Annotated[Path, Option(help="The .safetensors they were exported from.", show_default=False)],
    swipes: opt.Recorded = None,
    layout: opt.Layout = "qwerty",
    lexicon: opt.Lexicon = None,
    scoring: opt.Scoring = "auto",
    weights: opt.Weights = "encoder",
    count: Annotated[int | None, Option(min=1, help="Swipes to decode; by default all, or 200.")] = None,
    as_json: opt.Json = False,
) -> None:
    """Compare exported files with the checkpoint they were made of; exit status 1 if one differs too much.

    Of the emissions above -20, or of a matcher's scores, 99.9 % must be within 0.0001 of torch's (files of reduced
    precision: 0.02), and the best word must be the same for 99.9 % of the swipes (99.5 %). A matcher is asked about
    every swipe here, in doubt or not. `--weights` is the encoder that feeds a decoder, or finds a matcher's finalists.

    **Examples**

        glissando export verify one.onnx one.pte small.pte --checkpoint runs/one/encoder.safetensors
        glissando export verify one.onnx --checkpoint runs/one/encoder.safetensors --swipes how_we_swipe_val.jsonl.gz
    """
    from glissando.layout import load_layout
    from glissando.loading import load

    with needs_extra("verifying", "export"):
        from glissando.export.verify import Reference
        from glissando.model.checkpoint import MATCHER_FORMAT, read_format
    method: Any = "matcher" if read_format(checkpoint) == MATCHER_FORMAT else "encoder"
    board = load_layout(layout)
    gestures, _, listed = swipes_to_decode(board, swipes, count, lexicon=lexicon)
    keyboard = load(board, lexicon=listed, scoring=scoring, weights=weights, method=method)
    reference = Reference(checkpoint, keyboard, gestures)
    comparisons = []
    for file in files:
        with bar(file.name) as progress:
            comparisons.append(reference.compare(file, progress))
    if as_json:
        print_json([comparison.to_dict() for comparison in comparisons])
    else:
        _print_comparisons(comparisons)
    if not all(comparison.passed for comparison in comparisons):
        raise typer.Exit(1)


def _own_words(file: Path | None, language: str | None) -> dict[str, Lexicon]:
    """A word list by the language that it is of."""
    from glissando.errors import LexiconError
    from glissando.lexicon import Lexicon

    if file is None:
        if language is not None:
            raise LexiconError("--language says what language a --lexicon is of; --languages chooses the languages")
        return {}
    lexicon = Lexicon.from_file(file)
    if not (code := language or lexicon.language):
        raise LexiconError(f"{file} does not say its language: give --language")
    return {code: lexicon}


def _print_site(site: Site, directory: Path) -> None:
    """Print the size of each part and what to do with the folder."""
    for part in ("page", "networks", "runtime"):
        typer.echo(f"{site.part(part) / 1e6:>7.2f} MB  {part}")
    for code in site.languages:
        download = site.download(code) / 1e6
        typer.echo(
            f"{site.part(code) / 1e6:>7.2f} MB  {code}: who writes in it downloads {download:.1f} MB in all, once"
        )
    typer.echo(f"{directory}: {len(site.sizes)} files, {sum(site.wire.values()) / 1e6:.1f} MB compressed")
    typer.echo("Upload this folder to any web host with HTTPS, then send its address.")


def _counted(swipes: Iterable[Golden], total: int, progress: Callable[[int, int], None] | None) -> Iterator[Golden]:
    """Yield the swipes and report how many have come."""
    for done, swipe in enumerate(swipes, 1):
        yield swipe
        if progress:
            progress(done, total)


def _export(checkpoint: Path, output: Path, suffix: str, **options: Any) -> None:
    """Write a checkpoint in the format of a suffix and say what was written."""
    from glissando.errors import WeightsError

    with needs_extra("exporting", "export" if suffix == ".onnx" else "executorch"):
        from glissando.export.checkpoint import ExportOptions, export_checkpoint
    if output.suffix != suffix:
        raise WeightsError(f"the file to write must end in {suffix}, got {output}")
    card = export_checkpoint(checkpoint, output, ExportOptions(**options))
    typer.echo(f"{output}: {output.stat().st_size / 1e6:.1f} MB, {card['parameters']:,} parameters")


def _print_comparisons(comparisons: Sequence[Comparison]) -> None:
    """Print a row per file."""
    from glissando.export.verify import LIKELY, SHARE

    rows = [
        (
            one.file, f"{one.megabytes:.2f}", f"{one.outputs:.1e} ({one.bar.outputs:.0e})", f"{one.worst:.0e}",
            f"{one.agreement:.2f} ({one.bar.agreement})", "yes" if one.passed else "NO",
        )
        for one in comparisons
    ]  # fmt: skip
    columns = ("file", "MB", f"{SHARE} % within", "worst", "same word, %", "passed")
    print_table(f"against torch on {comparisons[0].swipes:,} swipes", columns, rows, tight=True)
    compared = "a matcher's scores" if comparisons[0].kind == "matcher" else f"log-emissions above {LIKELY:.0f}"
    print(f"{compared}; the best of the words that the beam finds")
