import math
import os
from itertools import groupby, product

import pytest
import torch

from glissando.train.losses import (
    ctc_loss,
    emission_penalty,
    encoder_loss,
    greedy_matches,
    recursion,
    torch_ctc_loss,
)

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def words(*rows: list[int], width: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Targets padded with zeros, and lengths."""
    width = max(width, *(len(row) for row in rows))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows]), torch.tensor([len(row) for row in rows])


def collapse(path: tuple[int, ...], blank: int) -> list[int]:
    return [label for label, _ in groupby(path) if label != blank]


@pytest.mark.parametrize("word", [[0], [1], [0, 1], [0, 0], [1, 0, 1], [1, 1, 0]])
def test_cost_is_the_sum_over_all_paths(word):
    log_probs = torch.randn(1, 5, 3, generator=torch.Generator().manual_seed(len(word))).log_softmax(2)
    total = sum(
        math.exp(sum(log_probs[0, t, label].item() for t, label in enumerate(path)))
        for path in product(range(3), repeat=5)
        if collapse(path, 2) == word
    )
    assert ctc_loss(log_probs, *words(word, width=4)).item() == pytest.approx(-math.log(total), rel=1e-5)


def logits_and_words(seed: int, batch: int = 48, frames: int = 16, keys: int = 6, longest: int = 7):
    """Peaked logits, and words with many doubled letters, of every length; the keys are few."""
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(batch, frames, keys + 1, generator=generator)
    targets = torch.randint(3, (batch, longest), generator=generator)
    lengths = torch.arange(batch) % longest + 1
    return logits.requires_grad_(), targets * (torch.arange(longest) < lengths[:, None]), lengths


def test_values_and_gradients_equal_torch():
    logits, targets, lengths = logits_and_words(0, batch=144)
    weight = torch.rand(len(lengths), generator=torch.Generator().manual_seed(9))
    ours = ctc_loss(logits.log_softmax(2), targets, lengths)
    theirs = torch_ctc_loss(logits.log_softmax(2), targets, lengths)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    (our_gradient,) = torch.autograd.grad((weight * ours).sum(), logits)
    (their_gradient,) = torch.autograd.grad((weight * theirs).sum(), logits)
    torch.testing.assert_close(our_gradient, their_gradient, rtol=1e-4, atol=1e-5)


def test_a_word_too_long_costs_nothing_and_a_padded_key_leaves_everything_finite():
    logits = torch.randn(4, 3, 6, generator=torch.Generator().manual_seed(0))
    logits[:, :, 4] = -1e4  # a padded key
    logits.requires_grad_()
    targets, lengths = words([1, 1, 1], [0, 1, 2, 3], [0, 1], [4, 4])  # they need five, four, two and three frames
    cost = ctc_loss(logits.log_softmax(2), targets, lengths)
    cost.sum().backward()
    assert cost[:2].tolist() == [0, 0]
    assert cost[2] > 0
    assert (logits.grad[:2] == 0).all()
    assert (logits.grad[2] != 0).any()
    assert cost[3] > 1e4
    assert cost.isfinite().all()
    assert logits.grad.isfinite().all()


def test_emission_penalty_by_hand():
    # The gate lets 0.5 + 0.25 through; a word of two letters lacks 1.25, one of no letters lacks nothing.
    blank = torch.tensor([[0.5, 0.75], [0.5, 0.75]])
    log_probs = torch.stack([(1 - blank) / 2, (1 - blank) / 2, blank], dim=2).log()
    assert emission_penalty(log_probs, torch.tensor([2, 0])).tolist() == pytest.approx([1.25**2, 0.0])


def test_the_loss_is_ctc_per_letter_plus_the_weighted_penalty():
    logits, targets, lengths = logits_and_words(5)
    log_probs = logits.log_softmax(2)
    cost = ctc_loss(log_probs, targets, lengths)
    losses = encoder_loss(cost, log_probs, lengths, weight=0.05, per_letter=True)
    expected = torch.nn.functional.ctc_loss(
        log_probs.transpose(0, 1), targets, torch.full_like(lengths, 16), lengths, blank=6
    )
    assert losses.ctc.item() == pytest.approx(expected.item(), rel=1e-5)
    assert losses.total.item() == pytest.approx(losses.ctc.item() + 0.05 * losses.emission.item(), rel=1e-6)
    whole = encoder_loss(cost, log_probs, lengths, weight=0.0, per_letter=False)
    assert whole.total.item() == pytest.approx(cost.mean().item(), rel=1e-6)


def test_greedy_matches_what_collapsing_by_hand_gives():
    logits, targets, lengths = logits_and_words(6, batch=400, frames=6, keys=3, longest=3)
    found = greedy_matches(logits, targets, lengths)
    best = logits.argmax(2).tolist()
    expected = [
        collapse(tuple(path), 3) == word[:length]
        for path, word, length in zip(best, targets.tolist(), lengths.tolist(), strict=True)
    ]
    assert found.tolist() == expected
    assert 0 < sum(expected) < 400


@pytest.mark.skipif(
    DEVICE == "cpu" and not os.environ.get("TRITON_INTERPRET"), reason="no GPU; TRITON_INTERPRET=1 runs it on the CPU"
)
def test_the_kernel_computes_the_recursion_and_the_loss():
    pytest.importorskip("triton", reason="no Triton here")
    from glissando.train.ctc_kernel import ctc_recursion

    emissions = torch.randn(6, 8, 11, generator=torch.Generator().manual_seed(0)).to(DEVICE) - 3
    skip = (torch.rand(6, 11, generator=torch.Generator().manual_seed(2)) < 0.4).to(DEVICE)
    torch.testing.assert_close(ctc_recursion(emissions, skip), recursion(emissions, skip), rtol=1e-5, atol=1e-5)
    logits, targets, lengths = (part.to(DEVICE) for part in logits_and_words(1, batch=7, frames=9))
    results = []
    for fused in (False, True):
        leaf = logits.detach().clone().requires_grad_()
        cost = ctc_loss(leaf.log_softmax(2), targets, lengths, fused=fused)
        cost.sum().backward()
        results.append((cost.detach(), leaf.grad))
    torch.testing.assert_close(results[0], results[1], rtol=1e-5, atol=1e-5)
