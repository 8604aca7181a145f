import importlib.util
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from typer.testing import CliRunner

from glissando.errors import GlissandoError, TrainingError
from glissando.model.checkpoint import load_encoder
from glissando.train.augment import sample_parameters
from glissando.train.batches import Corpus
from glissando.train.encoder import Files, main, train_encoder
from glissando.train.state import load_state
from glissando.train.trainer import Trainer, validate
from glissando.train.world import World

# Tests are not a package, so the toy corpus beside this file is loaded by its path.
_SPEC = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
toy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)

CPU = torch.device("cpu")
MIXED = {"rearranged": 0.25, "synthetic": 0.25, "ema": 0.9, "word_power": 0.5, "extra_keys": 2}


@pytest.fixture(scope="session")
def pack(tmp_path_factory) -> Path:
    return toy.write_pack(tmp_path_factory.mktemp("packs") / "train.npz")


@pytest.fixture(scope="session")
def val(tmp_path_factory) -> Path:
    return toy.write_pack(tmp_path_factory.mktemp("packs") / "val.npz", rows=50, seed=9)


def lines_of(files: Files) -> list[dict]:
    return [json.loads(line) for line in files.metrics.read_text().splitlines()]


def same_tensors(one: Path, two: Path) -> None:
    """Compare two checkpoints bit by bit."""
    first, second = load_state(one)[0], load_state(two)[0]
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        assert torch.equal(tensor, second[name]), name


def test_a_toy_is_learned_and_comes_back_from_disk(pack, val, tmp_path):
    files = Files(pack, tmp_path / "run", val)
    model = replace(toy.MODEL, dropout=0.0)
    config = toy.toy_config(model=model, augment=toy.still(), steps=150, learning_rate=1e-2)
    last = train_encoder(config, files, device="cpu")
    assert last["val_greedy"] > 0.9
    lines = lines_of(files)
    assert lines[-1]["loss"] < 0.3 * lines[0]["loss"]
    assert {"step", "epoch", "loss", "ctc", "emission", "learning_rate", "gradient_norm", "swipes_per_second"} <= set(
        lines[0]
    )
    assert lines[-1]["learning_rate"] == pytest.approx(config.floor_rate)
    encoder, extra = load_encoder(files.encoder)
    assert extra["training"]["config"] == config.to_dict()
    assert extra["metrics"]["step"] == 150
    again = validate(encoder, Corpus.open(val, 32), CPU)
    assert again["val_greedy"] == pytest.approx(last["val_greedy"])


@pytest.mark.parametrize("mix", [{}, MIXED], ids=["plain", "mixed"])
def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(mix, pack, tmp_path):
    config = toy.toy_config(steps=20, **mix)
    whole, parts = Files(pack, tmp_path / "whole"), Files(pack, tmp_path / "parts")
    train_encoder(config, whole, device="cpu")
    train_encoder(config, parts, device="cpu", until=11)
    assert not parts.encoder.exists()
    assert lines_of(parts)[-1]["step"] == 11
    train_encoder(config, parts, device="cpu", resume=True)
    same_tensors(whole.checkpoint, parts.checkpoint)
    assert parts.encoder.read_bytes()[-1000:] == whole.encoder.read_bytes()[-1000:]
    steps = [line["step"] for line in lines_of(parts)]
    assert steps == sorted(set(steps))
    assert steps[-1] == 20


def test_seeds_reproduce_and_differ(pack, tmp_path):
    for name, seed in (("one", 1), ("again", 1), ("two", 2)):
        train_encoder(toy.toy_config(steps=3, seed=seed), Files(pack, tmp_path / name), device="cpu")
    same_tensors(tmp_path / "one/checkpoint.safetensors", tmp_path / "again/checkpoint.safetensors")
    one, two = (load_state(tmp_path / name / "checkpoint.safetensors")[0] for name in ("one", "two"))
    assert not torch.equal(one["network/stem.weight"], two["network/stem.weight"])


def test_the_callers_random_state_is_left_alone(pack, tmp_path):
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    train_encoder(toy.toy_config(steps=2), Files(pack, tmp_path / "run"), device="cpu")
    assert torch.equal(torch.rand(3), expected)


def test_streaming_trains_the_same_weights(pack, tmp_path):
    for resident in ("yes", "no"):
        config = toy.toy_config(steps=4, resident=resident)
        train_encoder(config, Files(pack, tmp_path / resident), device="cpu")
    same_tensors(tmp_path / "yes/checkpoint.safetensors", tmp_path / "no/checkpoint.safetensors")


def test_both_ctc_losses_train_alike(pack, tmp_path):
    costs = {}
    for ctc in ("own", "torch"):
        files = Files(pack, tmp_path / ctc)
        train_encoder(toy.toy_config(steps=10, ctc=ctc), files, device="cpu")
        costs[ctc] = [line["ctc"] for line in lines_of(files)]
    assert costs["own"] == pytest.approx(costs["torch"], rel=1e-3)


def test_a_time_budget_ends_the_schedule_cleanly(pack, val, tmp_path):
    files = Files(pack, tmp_path / "run", val)
    config = toy.toy_config(epochs=10**6, max_seconds=2.0)
    last = train_encoder(config, files, device="cpu")
    assert last["seconds"] >= 2.0
    assert last["progress"] == 1
    assert last["epoch"] < config.epochs
    assert last["learning_rate"] == pytest.approx(config.floor_rate)
    assert files.encoder.exists()


def test_what_is_not_finite_stops_the_run_and_keeps_the_last_good_checkpoint(pack, tmp_path, monkeypatch):
    files = Files(pack, tmp_path / "run")
    step = Trainer.step

    def break_at_eight(self, batch, number, progress):
        if number == 7:
            batch = batch._replace(path=batch.path * math.inf)
        return step(self, batch, number, progress)

    monkeypatch.setattr(Trainer, "step", break_at_eight)
    with pytest.raises(TrainingError, match=r"broke at step 8: loss (nan|inf).*checkpoint\.safetensors, step 5"):
        train_encoder(toy.toy_config(steps=50, checkpoint_seconds=0.0), files, device="cpu")
    tensors, info = load_state(files.checkpoint)
    assert info["step"] == 5
    assert all(tensor.isfinite().all() for tensor in tensors.values())
    assert not files.encoder.exists()
    monkeypatch.undo()
    train_encoder(toy.toy_config(steps=50, checkpoint_seconds=0.0), files, device="cpu", resume=True)


def test_a_teacher_is_followed(pack, val, tmp_path):
    model = replace(toy.MODEL, dropout=0.0)
    common = {"model": model, "augment": toy.still(), "learning_rate": 1e-2}
    teacher, pupil = Files(pack, tmp_path / "teacher", val), Files(pack, tmp_path / "pupil", val)
    train_encoder(toy.toy_config(steps=60, **common), teacher, device="cpu")
    lesson = {"teachers": (str(teacher.encoder),), "distil": 1.0, "seed": 3}
    train_encoder(toy.toy_config(steps=60, **lesson, **common), pupil, device="cpu")
    first, last = lines_of(pupil)[0], lines_of(pupil)[-1]
    assert last["loss"] < 0.5 * first["loss"]  # the divergence alone, yet CTC falls with it
    assert last["ctc"] < 0.6 * first["ctc"]
    wide = replace(model, frames=64)
    refused("has 32 frames, not 64", Files(pack, tmp_path / "wide"), config=toy.toy_config(**lesson, model=wide))


def test_a_teacher_without_weight_teaches_nothing(pack, tmp_path):
    teacher, alone, pupil = (Files(pack, tmp_path / name) for name in ("teacher", "alone", "pupil"))
    train_encoder(toy.toy_config(steps=3, seed=5), teacher, device="cpu")
    train_encoder(toy.toy_config(steps=4), alone, device="cpu")
    train_encoder(toy.toy_config(steps=4, teachers=(str(teacher.encoder),), distil=0.0), pupil, device="cpu")
    assert [line["loss"] for line in lines_of(pupil)] == pytest.approx([line["loss"] for line in lines_of(alone)])
    one, two = load_state(alone.checkpoint)[0], load_state(pupil.checkpoint)[0]
    torch.testing.assert_close(one["network/stem.weight"], two["network/stem.weight"])


def test_snapshots_are_kept_aside(pack, tmp_path):
    config = toy.toy_config(epochs=3, batch=100, snapshot_every=1)
    train_encoder(config, Files(pack, tmp_path / "run"), device="cpu")
    kept = sorted(path.name for path in (tmp_path / "run").glob("encoder-*.safetensors"))
    assert kept == ["encoder-0000002.safetensors", "encoder-0000004.safetensors", "encoder-0000006.safetensors"]


def refused(match: str, files: Files, **options) -> None:
    """A run that must not start and must not write."""
    before = {path: path.read_bytes() for path in files.out.glob("*")}
    config = options.pop("config", toy.toy_config(steps=6))
    with pytest.raises(GlissandoError, match=match):
        train_encoder(config, files, device="cpu", **options)
    assert {path: path.read_bytes() for path in files.out.glob("*")} == before


def test_bad_input_is_refused_before_anything_is_written(pack, tmp_path):
    out = tmp_path / "run"
    refused("cannot read the pack", Files(tmp_path / "none.npz", out))
    nan = np.full((200, 2, 64), np.nan)
    refused("paths is float64", Files(toy.write_pack(tmp_path / "nan.npz", paths=nan), out))
    refused("less than one batch of 256", Files(pack, out), config=toy.toy_config(batch=256))
    refused('ctc="triton" needs a GPU', Files(pack, out), config=toy.toy_config(ctc="triton"))
    long = np.zeros(201, dtype=np.int64)
    long[1:] = 4 * np.arange(1, 201) + 60
    words = {"offsets": long, "targets": np.zeros(860, dtype=np.uint8)}
    one = toy.write_pack(tmp_path / "long.npz", **words)
    refused("less than one batch", Files(one, out), config=toy.toy_config(batch=200))
    assert not out.exists()


def test_an_empty_split_is_refused(pack, tmp_path):
    same = np.zeros(200 * 33, dtype=np.uint8)
    offsets = 33 * np.arange(201, dtype=np.int64)
    empty = toy.write_pack(tmp_path / "empty.npz", targets=same, offsets=offsets)
    refused("no swipe to use: 200 rows, none fits 32 frames", Files(empty, tmp_path / "run"))
    refused("no swipe to use", Files(pack, tmp_path / "run", empty))
    assert not (tmp_path / "run").exists()


def test_a_directory_with_a_run_is_never_overwritten(pack, tmp_path):
    files = Files(pack, tmp_path / "run")
    train_encoder(toy.toy_config(steps=6), files, device="cpu", until=3)
    refused(r"config\.json exists; resume that run", files)


def test_resuming_asks_for_the_same_run(pack, tmp_path):
    files = Files(pack, tmp_path / "run")
    refused("nothing to resume", files, resume=True)
    train_encoder(toy.toy_config(steps=6), files, device="cpu", until=3)
    refused(r"config\.batch is 16, not 8", files, resume=True, config=toy.toy_config(steps=6, batch=8))
    wider = replace(toy.MODEL, width=20)
    refused(r"config\.model\.width is 16, not 20", files, resume=True, config=toy.toy_config(steps=6, model=wider))
    other = replace(files, pack=toy.write_pack(tmp_path / "other.npz", seed=5))
    refused("its corpus is", other, resume=True)
    data = files.checkpoint.read_bytes()
    files.checkpoint.write_bytes(data[: len(data) // 2])
    refused("is damaged", files, resume=True)


def frozen_steps(world: World, pack: Path, steps: int) -> dict[str, torch.Tensor]:
    """Train without dropout and with batch norm's statistics frozen, where processes must add up to one.

    By plain gradient descent: Adam divides by the size of the gradient, and so makes much of rounding.
    """
    model = replace(toy.MODEL, dropout=0.0)
    config = toy.toy_config(model=model, augment=toy.still(), steps=steps, learning_rate=0.5)
    trainer = Trainer(config, Corpus.open(pack, 32), world)
    trainer.optimizer = torch.optim.SGD(trainer.network.parameters())
    trainer.network.eval()
    for step, batch in zip(range(steps), trainer.since(0), strict=False):
        trainer.step(batch, step, (step + 1) / steps)
    return trainer.network.state_dict()


WORKER = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
import test_encoder as tests
import torch
from safetensors.torch import save_file
from glissando.train.encoder import Files, train_in
from glissando.train.world import join_world
torch.set_num_threads(1)
pack, out = Path({pack!r}), Path({out!r})
with join_world("cpu") as world:
    weights = tests.frozen_steps(world, pack, 6)
    save_file({{name: tensor.contiguous() for name, tensor in weights.items()}}, out / f"{{world.rank}}.safetensors")
    config = tests.toy.toy_config(epochs=10**6, max_seconds=1.0, **tests.MIXED)
    train_in(world, config, Files(pack, out / "run", pack))
"""


def test_two_processes_train_what_one_trains(pack, tmp_path):
    code = WORKER.format(folder=str(Path(__file__).parent), pack=str(pack), out=str(tmp_path))
    port = 20000 + os.getpid() % 20000
    environment = {**os.environ, "MASTER_ADDR": "localhost", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    environment["OMP_NUM_THREADS"] = "1"
    workers = [
        subprocess.Popen([sys.executable, "-c", code], env={**environment, "RANK": str(rank)}) for rank in range(2)
    ]
    alone = frozen_steps(World(CPU), pack, 6)
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    for rank in range(2):
        shared = load_file(tmp_path / f"{rank}.safetensors")
        for name, tensor in alone.items():
            torch.testing.assert_close(shared[name], tensor, rtol=1e-5, atol=1e-5, msg=f"{name} on process {rank}")
    # The whole run, by its clock, with every kind of swipe: both processes end it together, one writes.
    steps = [line["step"] for line in lines_of(Files(pack, tmp_path / "run"))]
    assert steps == sorted(set(steps))
    assert (tmp_path / "run/encoder.safetensors").exists()


def test_the_step_is_one_graph_that_is_compiled_once(pack):
    model = replace(toy.MODEL, dropout=0.0)
    trainer = Trainer(toy.toy_config(model=model, steps=4, **MIXED), Corpus.open(pack, 32), World(CPU))
    plain = trainer.forward
    graph = torch.compile(plain, backend="eager", fullgraph=True, dynamic=False)
    stream = trainer.since(0)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for step in range(3):
            batch = next(stream)
            parameters = sample_parameters(batch, trainer.config.augment, torch.Generator().manual_seed(step))
            torch.testing.assert_close(graph(batch, parameters).ctc, plain(batch, parameters).ctc)


def test_the_module_runs_without_the_command_line(pack, val, tmp_path, capsys):
    options = ["--pack", str(pack), "--val", str(val), "--out", str(tmp_path / "run"), "--device", "cpu"]
    settings = ["steps=4", "batch=16", "model.width=8", "model.hidden=8", "model.dilations=[1]", "log_every=2"]
    flags = [part for setting in settings for part in ("--set", setting)]
    assert main([*options, *flags]) == 0
    printed = capsys.readouterr().out
    assert printed.count("step") == 2
    assert "val_greedy" in printed
    assert json.loads((tmp_path / "run/config.json").read_text())["config"]["model"]["dilations"] == [1]
    assert main([*options, *flags]) == 1
    assert capsys.readouterr().err.startswith("glissando: ")
    assert main([*options, "--set", "bach=3"]) == 1
    assert "no setting bach" in capsys.readouterr().err


def test_the_command_line_trains(pack, tmp_path):
    from glissando.cli.train import app

    out = tmp_path / "run"
    flags = ["--set", "steps=4", "--set", "batch=16", "--set", "model.width=8", "--set", "model.dilations=[1]"]
    result = CliRunner().invoke(app, ["encoder", "--pack", str(pack), "--out", str(out), "--device", "cpu", *flags])
    assert result.exit_code == 0, result.output
    assert "swipes/s" in result.output
    assert (out / "encoder.safetensors").exists()
    help_text = CliRunner().invoke(app, ["encoder", "--help"]).output
    assert "--resume" in help_text
    assert "glissando train encoder" in help_text
