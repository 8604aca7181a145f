import numpy as np
import pytest
import torch

from glissando.design.judge import Judge, forward_cost, runtime_emitter, torch_emitter
from glissando.design.packaged import encoder_from_onnx
from glissando.design.task import make_task, parse_grid
from glissando.errors import WeightsError
from glissando.export.onnx import export_encoder
from glissando.layout import Layout, load_layout
from glissando.model.config import EncoderConfig
from glissando.model.encoder import Encoder
from glissando.runtime import EncoderRuntime
from glissando.synth import word_paths
from glissando.train.losses import torch_ctc_loss
from glissando.weights import load_weights, write_card

CPU = torch.device("cpu")
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(1)
    made = Encoder(EncoderConfig(width=16, hidden=80, dilations=(1, 3), frames=64)).eval()
    with torch.no_grad():
        for name, tensor in made.state_dict().items():
            if tensor.is_floating_point():
                tensor.add_(0.2 * torch.rand_like(tensor) if "var" in name else 0.1 * torch.randn_like(tensor))
    return made


def spelled(task, layout, words):
    slots = torch.tensor(task.slots(layout))
    room = max(len(word) for word in words)
    letters = [[task.letters.index(letter) for letter in word.ljust(room, word[-1])] for word in words]
    return slots[torch.tensor(letters)], torch.tensor([len(word) for word in words])


def test_the_forward_recursion_is_torchs_ctc():
    draw = torch.Generator().manual_seed(0)
    log_probs = torch.randn(20, 64, 27, generator=draw).log_softmax(2)
    targets = torch.randint(0, 26, (20, 9), generator=draw)
    targets[3] = 5  # one letter nine times
    lengths = torch.randint(1, 10, (20,), generator=draw)
    torch.testing.assert_close(forward_cost(log_probs, targets, lengths), torch_ctc_loss(log_probs, targets, lengths))


def test_a_word_costs_what_the_encoder_says_of_its_exact_swipe(encoder):
    kasroz = load_layout("kasroz")
    task = make_task(kasroz, ALPHABET)
    words = ["the", "a", "stream", "all"]
    slots, lengths = spelled(task, kasroz, words)
    costs = Judge(torch_emitter(encoder, task, CPU), task, CPU).costs(slots, lengths)
    keys, mask = torch.tensor(kasroz.centres)[None], torch.ones(1, 26, dtype=torch.bool)
    log_probs = encoder(torch.tensor(word_paths(words, kasroz)), keys, mask).log_probs
    torch.testing.assert_close(costs, torch_ctc_loss(log_probs, slots, lengths).detach(), rtol=1e-3, atol=1e-3)


def test_batches_are_cut_and_counted(encoder):
    kasroz = load_layout("kasroz")
    task = make_task(kasroz, ALPHABET)
    slots, lengths = spelled(task, kasroz, ["the", "of", "and", "to", "in"])
    whole, cut = (Judge(torch_emitter(encoder, task, CPU), task, CPU, batch=batch) for batch in (0, 2))
    torch.testing.assert_close(cut.costs(slots, lengths), whole.costs(slots, lengths), rtol=1e-4, atol=1e-4)
    assert cut.swipes == 5
    assert len(whole.costs(slots[:0], lengths[:0])) == 0


def test_turned_is_the_keyboard_on_its_side(encoder):
    """Exchanging x and y of every key, and width and height, is the turned view of the same words."""
    upright = parse_grid("3-3", aspect=1.0)
    side = Layout("side", tuple(type(key)(key.letter, key.cy, key.cx, key.ry, key.rx) for key in upright.keys), "", 1.0)
    slots, lengths = torch.tensor([[0, 4, 2], [5, 1, 1]]), torch.tensor([3, 2])
    costs = [
        Judge(torch_emitter(encoder, make_task(grid, "abcdef"), CPU, turned=turned), make_task(grid, "abcdef"), CPU)
        for grid, turned in ((upright, True), (side, False))
    ]
    torch.testing.assert_close(costs[0].costs(slots, lengths), costs[1].costs(slots, lengths), rtol=1e-4, atol=1e-4)


@pytest.fixture(scope="module")
def exported(encoder, tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "small.onnx"
    export_encoder(encoder, path)
    write_card(path, {"config": encoder.config.to_dict()})
    return path


@pytest.mark.parametrize("turned", [False, True])
def test_onnxruntime_and_torch_judge_alike(encoder, exported, turned):
    kasroz = load_layout("kasroz")
    task = make_task(kasroz, ALPHABET)
    slots, lengths = spelled(task, kasroz, ["stream", "steam", "a"])
    judges = [
        Judge(torch_emitter(encoder, task, CPU, turned=turned), task, CPU),
        Judge(runtime_emitter(str(exported), task, 1, turned), task, CPU),
    ]
    mine, other = (judge.costs(slots, lengths) for judge in judges)
    torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-3)


def test_an_encoder_comes_back_from_onnx(exported):
    weights = load_weights(exported)
    layout = load_layout("qwerty")
    paths = word_paths(["hello", "world", "i"], layout)
    back = encoder_from_onnx(weights)
    keys, mask = torch.tensor(layout.centres)[None], torch.ones(1, 26, dtype=torch.bool)
    with torch.no_grad():
        mine = back(torch.tensor(paths), keys, mask).log_probs.numpy()
    np.testing.assert_allclose(mine, EncoderRuntime(weights).run(paths, layout.centres).log_probs, atol=1e-3)


def test_what_is_no_exported_encoder_does_not_come_back(exported, tiny_weights):
    weights = load_weights(exported)
    more = {**weights.card, "config": {**weights.card["config"], "dilations": [1, 3, 5]}}
    with pytest.raises(WeightsError, match="they lack"):
        encoder_from_onnx(type(weights)(weights.name, weights.data, more))
    with pytest.raises(WeightsError, match="32 channels"):
        encoder_from_onnx(load_weights(tiny_weights))
