"""``glissando train``: from packed swipes to weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

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
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from glissando.errors import MissingExtraError

    try:
        from glissando.train.config import TrainConfig
        from glissando.train.encoder import Files, train_encoder
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"training needs {error.name}: pip install 'glissando[train]'") from None
    config = TrainConfig().changed(settings or [])
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=1.0)

        def show(line: dict[str, Any]) -> None:
            progress.update(task, completed=line["progress"], description=_summary(line))

        last = train_encoder(config, Files(pack, out, val), resume=resume, device=device, report=show)
    typer.echo(f"{out / 'encoder.safetensors'}: step {last['step']:,}, {_summary(last)}")


def _summary(line: dict[str, Any]) -> str:
    """The figures of a metrics line that one watches."""
    forms = {
        "epoch": "epoch {:.1f}",
        "loss": "loss {:.4f}",
        "swipes_per_second": "{:,.0f} swipes/s",
        "val_ctc": "val CTC {:.3f}",
        "val_greedy": "greedy {:.1%}",
    }
    return ", ".join(form.format(line[name]) for name, form in forms.items() if name in line)
