import pytest
import torch

from glissando.model.config import EmbedderConfig
from glissando.model.embedder import DWELL, LEG_POWER, Embedder, nearness, word_paths

CENTRES = torch.tensor([[0.1, 0.5], [0.5, 0.5], [0.9, 0.5], [0.5, 0.9]])
KEYS = torch.cat([CENTRES, torch.full((4, 2), 0.05)], dim=1)


def path_of(*letters: int, points: int = 65) -> torch.Tensor:
    return word_paths(torch.tensor([letters]), torch.tensor([len(letters)]), CENTRES, points)[0]


@pytest.mark.parametrize("letters", [(0, 2), (3,), (3, 3)])
def test_a_word_of_one_or_two_letters_is_a_straight_line(letters):
    start, end = CENTRES[letters[0]], CENTRES[letters[-1]]
    torch.testing.assert_close(path_of(*letters), torch.lerp(start[:, None], end[:, None], torch.linspace(0, 1, 65)))


def test_legs_take_time_like_a_power_of_their_length():
    short, long = 0.4**LEG_POWER, 0.8**LEG_POWER
    bent = path_of(0, 1, 0, 2, points=1001)
    turn = round(1000 * 2 * short / (2 * short + long))  # back at the first key
    assert bent[0, turn - 3 : turn + 4].min() == pytest.approx(0.1, abs=0.01)
    assert bent[0].max() == pytest.approx(0.9)


def test_a_doubled_letter_rests():
    plain, doubled = path_of(0, 1, 2, points=1001), path_of(0, 1, 1, 2, points=1001)
    share = DWELL / (DWELL + 2 * 0.4**LEG_POWER)
    assert (doubled[0] - 0.5).abs().lt(1e-6).float().mean() == pytest.approx(share, abs=0.01)
    assert (plain[0] - 0.5).abs().lt(1e-6).float().mean() < 0.01


def test_nearness_is_one_on_a_key_and_falls_with_key_widths():
    path = torch.tensor([[[0.1, 0.18], [0.5, 0.5]]])
    near = nearness(path, KEYS, reach=0.8)[0]
    assert near[0, 0] == 1
    assert near[1, 0] == pytest.approx(2.718281828**-0.5, abs=1e-3)  # 0.08 is one reach of keys 0.1 wide


def test_embeddings_have_length_one_and_towers_learn_apart():
    torch.manual_seed(0)
    embedder = Embedder(EmbedderConfig(keys=4, width=8, dimensions=6)).eval()
    targets, lengths = torch.tensor([[0, 1, 3], [2, 0, 0]]), torch.tensor([3, 2])
    words = embedder.embed_words(targets, lengths, KEYS)
    swipes = embedder.embed_swipes(word_paths(targets, lengths, CENTRES), KEYS)
    assert words.shape == swipes.shape == (2, 6)
    for found in (words, swipes):
        torch.testing.assert_close(found.norm(dim=1), torch.ones(2))
    assert not torch.allclose(words, swipes)
