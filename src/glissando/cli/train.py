"""``glissando train``: from packed swipes to weights."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from glissando.cli import options as opt
from glissando.cli.output import bar, needs_extra

PackOption = Annotated[Path, Option(help="The corpus: a pack, or an .npz of one.", show_default=False)]
OneLayoutOption = Annotated[
    Path, Option("--pack", help="The corpus, on one layout: a pack or an .npz.", show_default=False)
]
OutOption = Annotated[Path, Option(help="The run's directory, new unless --resume.", show_default=False)]
ValOption = Annotated[Path | None, Option(help="A held-out corpus.")]
LexiconOption = Annotated[Path, Option(help="The words to tell apart: AOSP or a word per line.", show_default=False)]
ResumeOption = Annotated[bool, Option("--resume", help="Go on from the checkpoint in --out.")]

app = typer.Typer(help="Train networks on packed swipes.", no_args_is_help=True, rich_markup_mode="markdown")


@app.command()
def encoder(
    pack: PackOption,
    out: OutOption,
    val: ValOption = None,
    settings: opt.Settings = None,
    start: Annotated[
        str | None,
        Option(
            "--from", help="Go on from an encoder: a packaged one, an .onnx file or a checkpoint.", metavar="ENCODER"
        ),
    ] = None,
    resume: ResumeOption = False,
    device: opt.Device = None,
) -> None:
    """Train an encoder; without settings, as the report did.

    With --from, the settings are those for some thousands of donated swipes (docs/community.md): small steps from
    weights that know swiping already.

    The run's directory gets config.json, metrics.jsonl, checkpoint.safetensors and, at the end,
    encoder.safetensors, which `glissando export onnx` makes ready to decode.

    **Examples**

        glissando train encoder --pack train --val val --out runs/one
        glissando train encoder --pack train --out runs/two --set batch=2048 --set rearranged=0.5 --set model.frames=64
        glissando train encoder --pack train --val val --out runs/one --resume
        glissando train encoder --from encoder --pack donated.npz --out runs/community
    """
    with needs_extra("training", "train"):
        from glissando.train.encoder.config import EncoderTraining, fine_tuning
        from glissando.train.encoder.trainer import train_encoder
        from glissando.train.run import Job
    given = [] if start is None else [_trained_encoder(start)]
    config = (fine_tuning(given[0].config) if given else EncoderTraining()).changed(settings or [])
    job = Job(pack, out, val, resume, device)
    _report(out / "encoder.safetensors", _watch(train_encoder, config, job, *given))


def _trained_encoder(start: str) -> Any:
    """The encoder to go on from: of a checkpoint, or of a file that decodes."""
    if start.endswith(".safetensors"):
        from glissando.model.checkpoint import load_encoder

        return load_encoder(start)[0]
    with needs_extra("training from an exported encoder", "export"):
        import onnx  # noqa: F401 (what reads the file)

        from glissando.export.unfolded import unfold_encoder
    from glissando.weights import load_weights

    return unfold_encoder(load_weights(start))


@app.command()
def embedder(
    pack: OneLayoutOption,
    lexicon: LexiconOption,
    out: OutOption,
    val: ValOption = None,
    settings: opt.Settings = None,
    resume: ResumeOption = False,
    device: opt.Device = None,
) -> None:
    """Train an embedder, which places swipes near the words they mean.

    The first step towards a decoder: words close together are mined for hard negatives. See docs/decoder.md.

    **Examples**

        glissando train embedder --pack train --val val --lexicon en.txt --out runs/embedder
    """
    with needs_extra("training", "train"):
        from glissando.train.decoder.config import EmbedderTraining
        from glissando.train.decoder.embedder import train_embedder
        from glissando.train.run import Job
    config = EmbedderTraining().changed(settings or [])
    _report(out / "embedder.safetensors", _watch(train_embedder, config, Job(pack, out, val, resume, device), lexicon))


@app.command()
def negatives(
    pack: OneLayoutOption,
    lexicon: LexiconOption,
    embedder: Annotated[Path, Option(help="The trained embedder.", show_default=False)],
    out: Annotated[Path, Option(help="The file to write, an .npz.", show_default=False)],
    val: ValOption = None,
    settings: opt.Settings = None,
    device: opt.Device = None,
) -> None:
    """Mine hard negatives: for every word of a corpus, the words its swipes are mistaken for.

    Every swipe retrieves its nearest words; the words retrieved most often are the word's pool, up to 128. Words
    without swipes use their own path over the keys.

    **Examples**

        glissando train negatives --pack train --val val --lexicon en.txt --embedder e.safetensors --out pools.npz
    """
    with needs_extra("training", "train"):
        from glissando.train.decoder.config import MiningConfig
        from glissando.train.decoder.mining import mine_negatives
        from glissando.train.run import Job
    config = MiningConfig().changed(settings or [])
    pools = _watch(mine_negatives, config, Job(pack, out, val, device=device), lexicon, embedder)
    typer.echo(f"{out}: {pools.summary()}")


@app.command()
def decoder(
    pack: OneLayoutOption,
    encoder: Annotated[Path, Option(help="The trained encoder, a checkpoint.", show_default=False)],
    negatives: Annotated[Path, Option(help="The file that train negatives wrote.", show_default=False)],
    out: OutOption,
    val: ValOption = None,
    settings: opt.Settings = None,
    resume: ResumeOption = False,
    device: opt.Device = None,
) -> None:
    """Train a decoder for one layout over a frozen encoder; without settings, as the report did.

    The run's directory gets config.json, metrics.jsonl, held.npz (the rows set aside), checkpoint.safetensors and, at
    the end, decoder.safetensors. The first line of metrics.jsonl is the encoder alone.

    **Examples**

        glissando train decoder --pack train --val val --encoder e.safetensors --negatives pools.npz --out runs/one
        glissando train decoder --pack train --encoder e.safetensors --negatives pools.npz --out runs/two --set epochs=9
    """
    with needs_extra("training", "train"):
        from glissando.train.decoder.config import DecoderTraining
        from glissando.train.decoder.trainer import train_decoder
        from glissando.train.run import Job
    config = DecoderTraining().changed(settings or [])
    _report(
        out / "decoder.safetensors",
        _watch(train_decoder, config, Job(pack, out, val, resume, device), encoder, negatives),
    )


@app.command()
def finalists(
    files: opt.Labelled,
    out: Annotated[Path, Option(help="The file to write, an .npz.", show_default=False)],
    count: Annotated[int, Option(min=2, max=255, help="Finalists of each swipe, best first.")] = 24,
    language: opt.Language = None,
    lexicon: opt.Lexicon = None,
    layouts: opt.Layouts = None,
    scoring: opt.Scoring = "auto",
    weights: opt.Weights = "encoder",
    max_key_distance: opt.MaxDistance = 2.0,
    limit: opt.Limit = None,
) -> None:
    """Decode swipes whose words are known and keep the finalists of the beam: what a matcher is trained on.

    The words meant are added to the lexicon. 66,794 swipes take a minute on two cores.

    **Examples**

        glissando train finalists train.jsonl.gz --lexicon en_wordlist.combined.gz --out train.npz
        glissando train finalists val.jsonl.gz --lexicon en_wordlist.combined.gz --out val.npz --count 48
    """
    from glissando.evaluation.evaluate import EvaluationOptions
    from glissando.train.matcher.gather import Gathering, gather_finalists

    options = EvaluationOptions(
        method="encoder", language=language, lexicon=lexicon, layouts=layouts, scoring=scoring, weights=weights,
        add_targets=True, max_key_distance=max_key_distance, limit=limit,
    )  # fmt: skip
    with bar("decoding") as progress:
        gathered = gather_finalists(files, Gathering(count, options), progress)
    gathered.save(out)
    there = float((gathered.places >= 0).mean())
    typer.echo(f"{out}: {len(gathered):,} swipes, the word meant is among the finalists of {there:.1%}")


@app.command()
def matcher(
    pack: Annotated[Path, Option(help="What train finalists wrote.", show_default=False)],
    out: OutOption,
    val: Annotated[Path | None, Option(help="Finalists of other people.")] = None,
    settings: opt.Settings = None,
    resume: ResumeOption = False,
    device: opt.Device = None,
) -> None:
    """Train a matcher, which compares a swipe with the keys of the beam's finalists, on any layout.

    The run's directory gets config.json, metrics.jsonl, checkpoint.safetensors and, at the end, matcher.safetensors.
    A tenth of the people is set aside and measured. See docs/matcher.md.

    **Examples**

        glissando train matcher --pack train.npz --val val.npz --out runs/matcher
        glissando train matcher --pack train.npz --out runs/smoke --set steps=20 --set batch=32 --device cpu
    """
    with needs_extra("training", "train"):
        from glissando.train.matcher.config import MatcherTraining
        from glissando.train.matcher.trainer import train_matcher
        from glissando.train.run import Job
    config = MatcherTraining().changed(settings or [])
    _report(out / "matcher.safetensors", _watch(train_matcher, config, Job(pack, out, val, resume, device)))


def _leads() -> bool:
    """Whether this process shows progress: of those that torchrun started, the first."""
    return os.environ.get("RANK", "0") == "0"


def _watch(train: Callable[..., Any], config: Any, job: Any, *files: Path) -> Any:
    """Train under a progress bar, which follows the lines that the job reports."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    console = Console(stderr=True)
    hidden = not (_leads() and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("starting", total=1.0)

        def show(line: dict[str, Any]) -> None:
            progress.update(task, completed=line["progress"], description=_summary(line))

        return train(config, replace(job, report=show), *files)


def _report(file: Path, last: dict[str, Any]) -> None:
    """Say what was written and how good it is."""
    if _leads():
        typer.echo(f"{file}: step {last['step']:,}, {_summary(last)}")


def _summary(line: dict[str, Any]) -> str:
    """The most telling figures of a metrics line."""
    forms = {
        "epoch": "epoch {:.1f}",
        "loss": "loss {:.4f}",
        "swipes_per_second": "{:,.0f} swipes/s",
        "val_ctc": "val CTC {:.3f}",
        "val_greedy": "greedy {:.1%}",
        "held_top1": "people set aside {:.2%}",
        "val_top1": "top-1 {:.1%}",
        "val_recall_128": "own word among 128 {:.1%}",
    }
    return ", ".join(form.format(line[name]) for name, form in forms.items() if name in line)
