import pytest
import torch

from glissando.train.decoder_config import ProductScore
from glissando.train.finalist_validation import Constants, Finals, better, fit_constants, measure_finals, rank_scores
from glissando.train.pools import Candidates
from glissando.train.ranking import ProductScorer


def finals(costs, searched=None, found=None, seed: int = 0) -> Finals:
    costs = torch.as_tensor(costs, dtype=torch.float32)
    shape = costs.shape
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(2, 9, shape, generator=draw)
    frequencies = torch.randint(60, 200, shape, generator=draw).to(torch.uint8)
    distances = torch.rand(*shape, 2, generator=draw)
    words = Candidates(torch.zeros(*shape, 1), lengths, frequencies, torch.ones(shape, dtype=torch.bool), distances)
    found = torch.ones(shape[0], dtype=torch.bool) if found is None else torch.tensor(found)
    return Finals(costs, costs if searched is None else searched, words, found, torch.zeros(shape[0], dtype=torch.bool))


def plain(weights: list[float], share: float = 1.0) -> Constants:
    return Constants(share, torch.tensor(weights, dtype=torch.float64), 0.0, 0.0)


def test_ranks_by_hand():
    part = finals([[2.0, 1.0, 2.0, 9.0]])
    scores = rank_scores(part, plain([1.0, 0.0, 0.0, 0.0, 0.0]))
    assert better(scores, part.words.valid).tolist() == [2]
    assert better(scores, torch.tensor([[True, False, True, True]])).tolist() == [1]


def test_a_lost_truth_is_a_miss_and_no_part_of_the_entropy():
    part = finals([[1.0, 5.0], [1.0, 5.0], [4.0, 4.0]], found=[True, False, True])
    scorer = ProductScorer(ProductScore(weight=0.0, bonus=0.0, location=0.0, shape=0.0))
    figures = measure_finals(part, plain([1.0, 0.0, 0.0, 0.0, 0.0]), scorer, "val")
    assert figures["val_top1"] == pytest.approx(1 / 3)
    assert figures["val_top3"] == pytest.approx(2 / 3)
    wrong = torch.log1p(torch.exp(torch.tensor(-4.0))).item()
    assert figures["val_entropy"] == pytest.approx((wrong + torch.log(torch.tensor(2.0)).item()) / 2)


def test_the_fit_finds_the_weights_that_made_the_truths():
    """Truths drawn by a softmax of known weights: a conditional logit finds these back."""
    part = finals(torch.rand(20000, 6, generator=torch.Generator().manual_seed(1)) * 8)
    true = plain([1.5, 0.03, 0.5, 2.0, 4.0])
    scores = rank_scores(part, true)
    noise = -torch.log(-torch.log(torch.rand(scores.shape, generator=torch.Generator().manual_seed(2))))
    winner = (scores + noise).argmax(dim=1)
    order = torch.cat([winner[:, None], (winner[:, None] + torch.arange(1, 6)) % 6], dim=1)

    def turn(array):
        index = order if array.ndim == 2 else order[..., None].expand(-1, -1, array.shape[2])
        return array.gather(1, index)

    turned = part._replace(
        costs=turn(part.costs), searched=turn(part.costs), words=Candidates(*(turn(array) for array in part.words))
    )
    found = fit_constants(turned, 0.0, 0.0)
    assert found.weights.tolist() == pytest.approx(true.weights.tolist(), rel=0.1)


def test_the_share_goes_to_the_better_judge():
    draw = torch.Generator().manual_seed(0)
    good, noise = torch.rand(500, 5, generator=draw) * 4, torch.rand(500, 5, generator=draw) * 4
    good[:, 0] -= 3
    assert fit_constants(finals(good, noise), 0.6, 60.0).share == 1.0
    assert fit_constants(finals(noise, good), 0.6, 60.0).share == 0.2
