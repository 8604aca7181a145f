import numpy as np
import pytest
import torch
from design.fakes import ALPHABET
from networks import small_encoder

from glissando.design.config import SearchConfig
from glissando.design.judge import _checkpoint, forward_cost, make_judge
from glissando.design.run import judge_layouts
from glissando.design.task import make_task, parse_grid
from glissando.design.words import SearchWords
from glissando.errors import DesignError
from glissando.layout import Layout, load_layout
from glissando.lexicon import load_lexicon
from glissando.model.checkpoint import load_encoder, save_encoder
from glissando.synth import word_paths
from glissando.train.losses import torch_ctc_loss
from glissando.train.world import World
from glissando.weights import load_weights

WORLD = World(torch.device("cpu"))
KASROZ = load_layout("kasroz")
TASK = make_task(KASROZ, ALPHABET)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A checkpoint of a small encoder with random weights."""
    path = tmp_path_factory.mktemp("weights") / "small.safetensors"
    save_encoder(path, small_encoder(width=16, hidden=80, dilations=(1, 3), frames=64))
    return str(path)


def spelled(words, task=TASK, layout=KASROZ):
    letters = SearchWords.from_weights(dict.fromkeys(words, 1.0), "".join(task.letters))
    return torch.tensor(task.slots(layout))[torch.tensor(letters.letters).long()], torch.tensor(letters.lengths)


def costs(weights, words, **settings):
    return make_judge(weights, TASK, SearchConfig(**settings), WORLD).costs(*spelled(words))


def test_the_forward_recursion_is_torchs_ctc():
    draw = torch.Generator().manual_seed(0)
    log_probs = torch.randn(20, 64, 27, generator=draw).log_softmax(2)
    targets = torch.randint(0, 26, (20, 9), generator=draw)
    targets[3] = 5  # one letter nine times
    lengths = torch.randint(1, 10, (20,), generator=draw)
    torch.testing.assert_close(forward_cost(log_probs, targets, lengths), torch_ctc_loss(log_probs, targets, lengths))


def test_a_word_costs_what_the_encoder_says_of_its_exact_swipe(encoder):
    words = ["the", "a", "stream", "all"]
    network, _ = load_encoder(encoder)
    keys, mask = torch.tensor(KASROZ.centres)[None], torch.ones(1, 26, dtype=torch.bool)
    with torch.no_grad():
        log_probs = network(torch.tensor(word_paths(words, KASROZ)), keys, mask).log_probs
    expected = torch_ctc_loss(log_probs, *spelled(words))
    torch.testing.assert_close(costs(encoder, words), expected, rtol=1e-3, atol=1e-3)


def test_batches_are_cut_and_counted(encoder):
    slots, lengths = spelled(["the", "of", "and", "to", "in"])
    whole, cut = (make_judge(encoder, TASK, SearchConfig(batch=batch), WORLD) for batch in (0, 2))
    torch.testing.assert_close(cut.costs(slots, lengths), whole.costs(slots, lengths), rtol=1e-4, atol=1e-4)
    assert cut.swipes == 5
    assert len(whole.costs(slots[:0], lengths[:0])) == 0


def test_turned_is_the_keyboard_on_its_side(encoder):
    """Exchanging x and y of every key, and width and height, is the turned view of the same words."""
    grid = parse_grid("3-3")
    upright = Layout("upright", grid.keys, "", 1.0)
    side = Layout("side", tuple(type(key)(key.letter, key.cy, key.cx, key.ry, key.rx) for key in grid.keys), "", 1.0)
    words = torch.tensor([[0, 4, 2], [5, 1, 1]]), torch.tensor([3, 2])
    turned = make_judge(encoder, make_task(upright, "abcdef"), SearchConfig(view="turned"), WORLD).costs(*words)
    rotated = make_judge(encoder, make_task(side, "abcdef"), SearchConfig(), WORLD).costs(*words)
    torch.testing.assert_close(turned, rotated, rtol=1e-4, atol=1e-4)


def test_a_word_costs_the_same_to_the_last_bit_whatever_is_read_with_it():
    slots, lengths = spelled([word for word in load_lexicon("en").words if word.isascii() and word.isalpha()][:100])
    judge = make_judge("judge", TASK, SearchConfig(), WORLD)
    together = judge.costs(slots, lengths)
    for some in (slice(1), slice(3, 70), slice(91, 100)):
        assert judge.costs(slots[some], lengths[some]).tolist() == together[some].tolist()


@pytest.mark.parametrize("view", ["upright", "turned"])
def test_the_packaged_judge_is_one_network_in_two_files(view):
    """GPUs read its torch weights, onnxruntime the export."""
    words = ["stream", "steam", "a"]
    torch_file = str(_checkpoint("judge"))
    torch.testing.assert_close(costs(torch_file, words, view=view), costs("judge", words, view=view), rtol=0, atol=1e-4)
    assert load_encoder(torch_file)[1]["onnx_sha256"] == load_weights("judge").card["sha256"]
    with pytest.raises(DesignError, match=r"'judge' or a \.safetensors checkpoint, got 'encoder'"):
        _checkpoint("encoder")  # it has no torch weights beside it


def test_the_packaged_judge_ranks_three_keyboards_as_the_report_does():
    words = SearchWords.choose(load_lexicon("en"), ALPHABET, 200)
    layouts = [load_layout(name) for name in ("kasroz", "clearflow", "qwerty")]
    totals = [one.total(SearchConfig().dial) for one in judge_layouts(layouts, words, device="cpu")]
    assert np.all(np.diff(totals) > 0)
