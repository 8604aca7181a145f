"""``glissando train``: from packed swipes to weights."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

Report = Callable[[dict[str, Any]], None]
Result = TypeVar("Result")

app = typer.Typer(help="Train networks on packed swipes.", no_args_is_help=True, rich_markup_mode="markdown")


@app.callback()
def _group() -> None:
    """Train networks on packed swipes."""


@app.command()
def encoder(
    pack: Annotated[Path, typer.Option(help="The corpus: a pack, or an .npz of one.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The run's directory, new unless --resume.", show_default=False)],
    val: Annotated[Path | None, typer.Option(help="A held-out corpus.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of docs/training.md; may be repeated."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in --out.")] = False,
    device: Annotated[str | None, typer.Option(help="cuda or cpu; by default a GPU where there is one.")] = None,
) -> None:
    """Train an encoder; without settings, as the report did.

    The run's directory gets config.json, metrics.jsonl, checkpoint.safetensors and, at the end,
    encoder.safetensors, which `glissando export onnx` makes ready to decode.

    Examples:

        glissando train encoder --pack train --val val --out runs/one

        glissando train encoder --pack train --out runs/two --set batch=2048 --set rearranged=0.5 --set model.frames=64

        glissando train encoder --pack train --val val --out runs/one --resume
    """
    with _needs_training():
        from glissando.train.config import TrainConfig
        from glissando.train.encoder import Files, train_encoder
    config = TrainConfig().changed(settings or [])
    files = Files(pack, out, val)
    last = _watch(lambda show: train_encoder(config, files, resume=resume, device=device, report=show))
    typer.echo(f"{out / 'encoder.safetensors'}: step {last['step']:,}, {_summary(last)}")


@app.command()
def embedder(
    pack: Annotated[Path, typer.Option(help="The corpus, on one layout: a pack or an .npz.", show_default=False)],
    lexicon: Annotated[
        Path, typer.Option(help="The words to tell apart: AOSP or a word per line.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The run's directory, new unless --resume.", show_default=False)],
    val: Annotated[Path | None, typer.Option(help="A held-out corpus.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting; may be repeated.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in --out.")] = False,
    device: Annotated[str | None, typer.Option(help="cuda or cpu; by default a GPU where there is one.")] = None,
) -> None:
    """Train an embedder, which places swipes near the words they mean.

    The first step towards a decoder: what lies close together is mined for hard negatives. See docs/decoder.md.

    Examples:

        glissando train embedder --pack train --val val --lexicon en.txt --out runs/embedder
    """
    with _needs_training():
        from glissando.train.decoder_config import EmbedderTraining
        from glissando.train.embedder import train_embedder
    options = Namespace(pack=pack, val=val, lexicon=lexicon, out=out, resume=resume, device=device)
    config = EmbedderTraining().changed(settings or [])
    last = _watch(lambda show: train_embedder(config, options, report=show))
    typer.echo(f"{out / 'embedder.safetensors'}: step {last['step']:,}, {_summary(last)}")


@app.command()
def negatives(
    pack: Annotated[Path, typer.Option(help="The corpus, on one layout: a pack or an .npz.", show_default=False)],
    lexicon: Annotated[Path, typer.Option(help="The words: AOSP or a word per line.", show_default=False)],
    embedder: Annotated[Path, typer.Option(help="The trained embedder.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The file to write, an .npz.", show_default=False)],
    val: Annotated[Path | None, typer.Option(help="A held-out corpus whose words need negatives too.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting; may be repeated.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cuda or cpu; by default a GPU where there is one.")] = None,
) -> None:
    """Mine hard negatives: for every word of a corpus, the words its swipes are mistaken for.

    Every swipe retrieves its nearest words; those retrieved most often are the word's pool, up to 128. Words
    without swipes go by their own path over the keys.

    Examples:

        glissando train negatives --pack train --val val --lexicon en.txt --embedder e.safetensors --out pools.npz
    """
    with _needs_training():
        from glissando.train.decoder_config import MiningConfig
        from glissando.train.negatives import mine_negatives
    options = Namespace(pack=pack, val=val, lexicon=lexicon, embedder=embedder, out=out, device=device)
    config = MiningConfig().changed(settings or [])
    found = _watch(lambda show: mine_negatives(config, options, lambda share: show({"progress": share})))
    typer.echo(f"{out}: {found.summary()}")


@app.command()
def decoder(
    pack: Annotated[Path, typer.Option(help="The corpus, on one layout: a pack or an .npz.", show_default=False)],
    encoder: Annotated[Path, typer.Option(help="The trained encoder, a checkpoint.", show_default=False)],
    negatives: Annotated[Path, typer.Option(help="What train negatives wrote.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The run's directory, new unless --resume.", show_default=False)],
    val: Annotated[Path | None, typer.Option(help="A held-out corpus.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of docs/decoder.md; may be repeated."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in --out.")] = False,
    device: Annotated[str | None, typer.Option(help="cuda or cpu; by default a GPU where there is one.")] = None,
) -> None:
    """Train a decoder for one layout over a frozen encoder; without settings, as the report did.

    The run's directory gets config.json, metrics.jsonl, held.npz (the rows set aside), checkpoint.safetensors and, at
    the end, decoder.safetensors. The first line of metrics.jsonl is the encoder alone.

    Examples:

        glissando train decoder --pack train --val val --encoder e.safetensors --negatives pools.npz --out runs/one

        glissando train decoder --pack train --encoder e.safetensors --negatives pools.npz --out runs/two --set epochs=9
    """
    with _needs_training():
        from glissando.train.decoder import train_decoder
        from glissando.train.decoder_config import DecoderTraining
    options = Namespace(pack=pack, val=val, encoder=encoder, negatives=negatives, out=out, resume=resume, device=device)
    config = DecoderTraining().changed(settings or [])
    last = _watch(lambda show: train_decoder(config, options, report=show))
    typer.echo(f"{out / 'decoder.safetensors'}: step {last['step']:,}, {_summary(last)}")


@contextmanager
def _needs_training() -> Iterator[None]:
    """Say which extra brings what is not installed."""
    from glissando.errors import MissingExtraError

    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"training needs {error.name}: pip install 'glissando[train]'") from None


def _watch(work: Callable[[Report], Result]) -> Result:
    """Do long work under a progress bar; it reports lines with ``progress`` in them."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=1.0)
        return work(lambda line: progress.update(task, completed=line["progress"], description=_summary(line)))


def _summary(line: dict[str, Any]) -> str:
    """The figures of a metrics line that one watches."""
    forms = {
        "epoch": "epoch {:.1f}",
        "loss": "loss {:.4f}",
        "swipes_per_second": "{:,.0f} swipes/s",
        "val_ctc": "val CTC {:.3f}",
        "val_greedy": "greedy {:.1%}",
        "val_top1": "top-1 {:.1%}",
        "val_recall_128": "own word among 128 {:.1%}",
    }
    return ", ".join(form.format(line[name]) for name, form in forms.items() if name in line)
