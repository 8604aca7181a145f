"""The matcher's laws: what its score may depend on, and what it may not."""

import pytest
import torch
from networks import small_matcher

from glissando.errors import TrainingError
from glissando.model.config import MatcherConfig
from glissando.model.matcher import Matcher, fourier, key_features, path_features


@pytest.fixture(scope="module")
def matcher():
    return small_matcher()


@pytest.fixture
def batch():
    """Two swipes and five finalists each: path [2, 64, 2], keys [2, 5, 7, 2], mask [2, 5, 7]."""
    torch.manual_seed(3)
    lengths = torch.tensor([[3, 7, 1, 2, 5], [7, 6, 2, 1, 4]])
    return torch.randn(2, 64, 2).cumsum(1) / 4, 3 * torch.randn(2, 5, 7, 2), torch.arange(7) < lengths[..., None]


def test_it_is_small_enough_to_ship():
    assert sum(parameter.numel() for parameter in Matcher().parameters()) == 307_213


def test_an_untrained_matcher_has_no_opinion(batch):
    scores = Matcher(MatcherConfig(width=16)).eval()(*batch)
    assert scores.shape == (2, 5)
    torch.testing.assert_close(scores, scores[:, :1].expand(2, 5))


def test_a_finalist_is_judged_by_itself_whatever_stands_beside_it(matcher, batch):
    path, keys, mask = batch
    scores = matcher(path, keys, mask)
    order = torch.tensor([4, 2, 0, 1, 3])
    torch.testing.assert_close(matcher(path, keys[:, order], mask[:, order]), scores[:, order], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(matcher(path, keys[:, 1:2], mask[:, 1:2]), scores[:, 1:2], atol=1e-5, rtol=1e-4)


def test_what_stands_beyond_the_end_of_a_word_does_not_count(matcher, batch):
    path, keys, mask = batch
    scores = matcher(path, keys, mask)
    noise = torch.where(mask[..., None], keys, 100 * torch.randn_like(keys))
    torch.testing.assert_close(matcher(path, noise, mask), scores, atol=1e-5, rtol=1e-4)
    longer = torch.nn.functional.pad(keys, (0, 0, 0, 9)), torch.nn.functional.pad(mask, (0, 9))
    torch.testing.assert_close(matcher(path, *longer), scores, atol=1e-5, rtol=1e-4)


def test_path_and_order_of_the_letters_count(matcher, batch):
    path, keys, mask = batch
    scores = matcher(path, keys, mask)
    assert (matcher(path.flip(1), keys, mask) - scores).abs().max() > 1e-3
    turned = torch.cat([keys[:, 1:2].flip(2), keys[:, 2:]], dim=1)  # the second word, backwards
    assert (matcher(path, turned, mask[:, 1:]) - scores[:, 1:])[0, 0].abs() > 1e-4


@pytest.mark.parametrize("path", [torch.zeros(1, 64, 2), torch.full((1, 64, 2), 1e5)])
def test_a_tap_and_a_finger_far_away_have_scores(matcher, path):
    keys, mask = torch.zeros(1, 3, 4, 2), torch.arange(4) < torch.tensor([[[1], [4], [0]]])
    assert torch.isfinite(matcher(path, keys, mask)).all()


def test_features_by_hand():
    path = torch.stack([torch.arange(64.0), torch.zeros(64)], dim=-1)[None]
    features = path_features(path, waves=1)
    assert features.shape == (1, 64, 12)
    torch.testing.assert_close(features[0, 5, 4:], torch.tensor([8, 0, 0, 0, 8, 0.6931, 1, 0.0]), atol=1e-3, rtol=1e-3)
    keys = torch.tensor([[[[0.0, 0], [3, 4], [3, 4], [9, 9]]]])
    found = key_features(keys, torch.tensor([[[True, True, True, False]]]), waves=1)
    assert found.shape == (1, 1, 4, 4 + 12 + 8)
    first, doubled = found[0, 0, 0, 4:16], found[0, 0, 2, 4:16]
    wanted = [0, 0, 3, 4, 0.001, 5, 0, 1, 0, 0.3, 1, 0]  # nothing before it, so it counts as doubled
    torch.testing.assert_close(first, torch.tensor(wanted), atol=2e-3, rtol=1e-3)
    torch.testing.assert_close(
        doubled, torch.tensor([0, 0, 0, 0, 0.001, 0.001, 0, 1, 1, 0.3, 0, 1]), atol=2e-3, rtol=1e-3
    )
    torch.testing.assert_close(fourier(torch.tensor([8.0, 2.0]), 1), torch.tensor([0, 1, 1, 0.0]), atol=1e-5, rtol=0)


def test_bad_shapes_are_refused():
    with pytest.raises(TrainingError, match="width must be a multiple of heads and kernel odd; got width 10, kernel 7"):
        MatcherConfig(width=10)
