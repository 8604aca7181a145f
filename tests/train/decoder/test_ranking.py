import math

import pytest
import torch

from glissando.train.decoder.ranking import Scorer, candidate_costs, consistency, lambda_loss
from glissando.train.losses import torch_ctc_loss


def plain_lambda_loss(scores: list[float], mu: float, sigma: float) -> float:
    """NDCGLoss2++ as its paper writes it, with gains 1 for the first word and 0 for the others."""
    order = sorted(range(len(scores)), key=lambda word: -scores[word])
    rank = {word: place + 1 for place, word in enumerate(order)}
    total = 0.0
    for word in range(1, len(scores)):
        i, j = rank[0], rank[word]
        delta = abs(1 / math.log2(1 + abs(i - j)) - 1 / math.log2(2 + abs(i - j)))
        rho = abs(1 / math.log2(1 + i) - 1 / math.log2(1 + j))
        total += (rho + mu * delta) * math.log1p(math.exp(-sigma * (scores[0] - scores[word])))
    return total


@pytest.mark.parametrize(("mu", "sigma"), [(10.0, 1.0), (0.0, 1.0), (2.0, 0.5)])
def test_lambda_loss_is_the_papers(mu, sigma):
    torch.manual_seed(0)
    scores = torch.randn(20, 7, dtype=torch.float64) * 3
    found = lambda_loss(scores, torch.ones(20, 7, dtype=torch.bool), mu=mu, sigma=sigma)
    assert found.tolist() == pytest.approx([plain_lambda_loss(row, mu, sigma) for row in scores.tolist()])


def test_places_without_a_word_count_for_nothing():
    torch.manual_seed(0)
    scores = torch.randn(4, 6)
    valid = torch.ones(4, 6, dtype=torch.bool)
    valid[:, 3:] = False
    torch.testing.assert_close(lambda_loss(scores, valid), lambda_loss(scores[:, :3], valid[:, :3]))


def test_gradients_lift_the_truth_and_never_flow_through_ranks():
    scores = torch.tensor([[0.0, 2.0, -1.0]], requires_grad=True)
    loss = lambda_loss(scores, torch.ones(1, 3, dtype=torch.bool)).sum()
    (gradient,) = torch.autograd.grad(loss, scores)
    assert gradient[0, 0] < 0 < gradient[0, 2] < gradient[0, 1]
    assert gradient.sum().item() == pytest.approx(0, abs=1e-6)


def test_the_costs_of_several_words_are_each_words_own_and_so_are_their_gradients():
    torch.manual_seed(0)
    logits = torch.randn(3, 9, 5, requires_grad=True)  # torch's gradient is that of the logits
    targets, lengths = torch.randint(4, (3, 4, 3)), torch.tensor([[1, 2, 3, 3]] * 3)
    weights = torch.rand(3, 4)
    log_probs = logits.log_softmax(-1)
    costs = candidate_costs(log_probs, targets, lengths)
    expected = torch.stack([torch_ctc_loss(log_probs, targets[:, n], lengths[:, n]) for n in range(4)], dim=1)
    torch.testing.assert_close(costs, expected)
    mine, theirs = (
        torch.autograd.grad((weights * cost).sum(), logits, retain_graph=True)[0] for cost in (costs, expected)
    )
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_the_score_is_equation_3_and_its_weight_stays_above_zero():
    scorer = Scorer(0.5, 0.02, 1.5)
    score = scorer(torch.tensor([[8.0, 3.0]]), torch.tensor([[4, 1]]), torch.tensor([[100, 10]], dtype=torch.uint8))
    assert score[0].tolist() == pytest.approx([-8 / 2 + 0.02 * 100 + 1.5 * 4, -3 + 0.02 * 10 + 1.5])
    with torch.no_grad():
        scorer.weight.fill_(-0.1)
    scorer.clamp()
    assert scorer.weight.item() == 0
    assert {name for name, _ in scorer.named_parameters()} == {"weight", "bonus"}  # gamma is frozen
    assert scorer.constants() == {"gamma": 0.5, "weight": 0.0, "bonus": 1.5}


def test_consistency_by_hand_and_by_law():
    one = torch.tensor([[[0.5, 0.5], [0.5, 0.5]]]).log()
    other = torch.tensor([[[0.9, 0.1], [0.5, 0.5]]]).log()
    forth = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    back = 0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5)
    lengths = torch.tensor([2])
    assert consistency(one, other, lengths).item() == pytest.approx((forth + back) / 2 / 2)
    assert consistency(one, one, lengths).item() == 0
    torch.testing.assert_close(consistency(one, other, lengths), consistency(other, one, lengths))
