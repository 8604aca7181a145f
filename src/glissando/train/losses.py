"""CTC for training, and the emission-count penalty (eq. 7).

``ctc_loss`` equals torch's, but reads no length on the host: the GPU never waits, and ``torch.compile`` takes it into
the graph of the model. It runs the forward and the backward recursion side by side, as one batch of twice the size: T
short steps in all, or one Triton kernel (ctc_kernel.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from glissando.errors import TrainingError

# Log of an impossible path. Finite: differences of infinities are NaN. Far below any real score in float32.
IMPOSSIBLE = -1e30


class Losses(NamedTuple):
    """The loss of one batch: ``total`` is minimised; ``ctc`` and ``emission`` are its parts before weighting."""

    total: Tensor
    ctc: Tensor
    emission: Tensor


def use_kernel(choice: str, device: torch.device) -> bool:
    """Whether CTC's recursion is a Triton kernel, which is registered then.

    Args:
        choice: "own" (runs anywhere), "triton" (needs a GPU) or "auto": Triton on a GPU.
        device: of the training.
    """
    if choice == "own" or (choice == "auto" and device.type != "cuda"):
        return False
    if device.type != "cuda":
        raise TrainingError(f'ctc="triton" needs a GPU, the device is {device}; ctc="own" runs anywhere')
    try:
        import glissando.train.ctc_kernel  # noqa: F401 (registers an operator)
    except ImportError as error:
        raise TrainingError(f'ctc="triton" needs Triton: {error}; ctc="own" runs anywhere') from None
    return True


def encoder_loss(cost: Tensor, log_probs: Tensor, lengths: Tensor, *, weight: float, per_letter: bool) -> Losses:
    """CTC plus ``weight`` times the emission penalty, both averaged over the batch.

    Args:
        cost: [B] from ``ctc_loss``.
        log_probs: [B, T, K + 1] float32, blank last.
        lengths: [B].
        weight: of the emission penalty, alpha of eq. 7.
        per_letter: divide each word's cost by its length, as torch's mean does.
    """
    if per_letter:
        cost = cost / lengths.clamp(min=1)
    penalty = emission_penalty(log_probs, lengths).mean()
    mean = cost.mean()
    return Losses(mean + weight * penalty, mean.detach(), penalty.detach())


def emission_penalty(log_probs: Tensor, lengths: Tensor) -> Tensor:
    """max(0, length - sum of lambda)^2, without its weight (eq. 7). Shapes: [B, T, K + 1], [B] -> [B].

    lambda is 1 - p(blank): by eq. 6 the sigmoid of the gate. Where keys and blank share one softmax it counts
    emissions just as well.
    """
    emitted = -torch.expm1(log_probs[..., -1])  # [B, T]
    return (lengths - emitted.sum(dim=1)).clamp(min=0).square()


def torch_ctc_loss(log_probs: Tensor, targets: Tensor, lengths: Tensor) -> Tensor:
    """torch's CTC. Shapes: [B, T, K + 1], [B, L], [B] -> [B]; an impossible target costs nothing."""
    frames = torch.full_like(lengths, log_probs.shape[1])
    return functional.ctc_loss(
        log_probs.transpose(0, 1),
        targets,
        frames,
        lengths,
        blank=log_probs.shape[2] - 1,
        reduction="none",
        zero_infinity=True,
    )


def ctc_loss(log_probs: Tensor, targets: Tensor, lengths: Tensor, *, fused: bool = False) -> Tensor:
    """CTC with its gradient, equal to torch's. Shapes: [B, T, K + 1], [B, L], [B] -> [B].

    The blank is the last class, every sample has all T frames, and a target that no path can spell costs
    nothing and has no gradient. Compute it in float32. ``fused`` is what ``use_kernel`` returned.
    """
    return _Ctc.apply(log_probs, targets, lengths, fused)


def needed_frames(targets: Tensor, lengths: Tensor) -> Tensor:
    """Frames a word needs: one per letter, and a blank between doubled ones. Shapes: [B, L], [B] -> [B]."""
    place = torch.arange(1, targets.shape[1], device=targets.device)
    doubled = (targets[:, 1:] == targets[:, :-1]) & (place < lengths[:, None])
    return lengths + doubled.sum(dim=1)


def greedy_matches(log_probs: Tensor, targets: Tensor, lengths: Tensor) -> Tensor:
    """Whether the best classes of all frames, collapsed, spell the target. Shapes as in ``ctc_loss`` -> [B] bool."""
    blank = log_probs.shape[2] - 1
    best = log_probs.argmax(dim=2)  # [B, T]
    before = functional.pad(best[:, :-1], (1, 0), value=blank)
    starts = (best != before) & (best != blank)
    place = torch.where(starts, starts.cumsum(dim=1) - 1, best.shape[1])  # the letter's place in the word
    width = max(best.shape[1] + 1, targets.shape[1])
    spelled = torch.full((len(best), width), -1, device=best.device).scatter(1, place, best)
    letters = torch.arange(targets.shape[1], device=best.device) < lengths[:, None]
    agree = (spelled[:, : targets.shape[1]] == targets) | ~letters
    return (starts.sum(dim=1) == lengths) & agree.all(dim=1)


class _Ctc(torch.autograd.Function):
    """CTC that computes its gradient, minus the occupancy of every class, along with the cost."""

    @staticmethod
    def forward(ctx: Any, log_probs: Tensor, targets: Tensor, lengths: Tensor, fused: bool) -> Tensor:
        """Compute the cost of every sample, and keep the occupancies. Shapes as in ``ctc_loss``."""
        cost, occupancy = _cost_and_occupancy(log_probs, targets, lengths, fused)
        ctx.save_for_backward(occupancy)
        return cost

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None, None]:  # type: ignore[override]
        """Scale the occupancies by the gradient that arrives, [B]."""
        (occupancy,) = ctx.saved_tensors
        return -occupancy * upstream[0][:, None, None], None, None, None


def _cost_and_occupancy(log_probs: Tensor, targets: Tensor, lengths: Tensor, fused: bool) -> tuple[Tensor, Tensor]:
    """The cost [B] and the posterior of every class at every frame [B, T, K + 1]."""
    labels = _extend(targets, log_probs.shape[2] - 1)  # [B, S]
    states = 2 * lengths[:, None] + 1  # [B, 1] states in use
    place = torch.arange(labels.shape[1], device=labels.device)  # [S]
    mirror = torch.where(place < states, states - 1 - place, place)  # [B, S] the word backwards
    emissions = log_probs.gather(2, labels[:, None].expand(-1, log_probs.shape[1], -1))  # [B, T, S]
    backwards = emissions.flip(1).gather(2, mirror[:, None].expand_as(emissions))
    both = torch.cat([emissions, backwards])  # [2B, T, S]
    skip = _may_skip(torch.cat([labels, labels.gather(1, mirror)]))
    scores = torch.ops.glissando.ctc_recursion(both, skip) if fused else recursion(both, skip)  # [2B, T, S]
    alpha, beta = scores.chunk(2)
    beta = beta.flip(1).gather(2, mirror[:, None].expand_as(emissions))
    # A path ends in the last letter or in the blank after it.
    ends = (place == states - 1) | (place == states - 2)
    total = torch.logsumexp(torch.where(ends, alpha[:, -1], IMPOSSIBLE), dim=1)  # [B]
    possible = total > IMPOSSIBLE / 2
    # alpha and beta both count frame t; states beyond the word's belong to no path.
    posterior = torch.exp((alpha + beta - emissions - total[:, None, None]).clamp(max=0))
    posterior = torch.where((place < states)[:, None] & possible[:, None, None], posterior, 0.0)
    return torch.where(possible, -total, 0.0), _per_class(posterior, targets, log_probs.shape[2])


def _extend(targets: Tensor, blank: int) -> Tensor:
    """Letters with blanks before, between and after: blank a blank b blank. Shapes: [B, L] -> [B, S = 2L + 1]."""
    pairs = torch.stack([torch.full_like(targets, blank), targets], dim=2).flatten(1)
    return functional.pad(pairs, (0, 1), value=blank)


def _may_skip(labels: Tensor) -> Tensor:
    """Whether a state may follow the one two before it: a letter after another letter. Shapes: [B, S] -> [B, S]."""
    letter = torch.arange(labels.shape[1], device=labels.device) % 2 == 1
    return letter & functional.pad(labels[:, 2:] != labels[:, :-2], (2, 0), value=False)


def recursion(emissions: Tensor, skip: Tensor) -> Tensor:
    """Log score of all paths from the start to each state of each frame. Shapes: [B, T, S], [B, S] -> [B, T, S]."""
    start = torch.arange(emissions.shape[2], device=emissions.device) < 2
    score = torch.where(start, emissions[:, 0], IMPOSSIBLE)
    scores = [score]
    for frame in range(1, emissions.shape[1]):
        one = functional.pad(score[:, :-1], (1, 0), value=IMPOSSIBLE)
        two = torch.where(skip, functional.pad(score[:, :-2], (2, 0), value=IMPOSSIBLE), IMPOSSIBLE)
        best = torch.maximum(torch.maximum(score, one), two)
        mass = torch.exp(score - best) + torch.exp(one - best) + torch.exp(two - best)
        score = (best + torch.log(mass) + emissions[:, frame]).clamp(min=IMPOSSIBLE)
        scores.append(score)
    return torch.stack(scores, dim=1)


def _per_class(posterior: Tensor, targets: Tensor, classes: int) -> Tensor:
    """Sum state posteriors by class. Shapes: [B, T, S], [B, L] -> [B, T, K + 1]."""
    letters = posterior[..., 1::2]  # [B, T, L]
    place = targets[:, None].expand_as(letters)
    occupancy = torch.zeros(*posterior.shape[:2], classes, dtype=posterior.dtype, device=posterior.device)
    occupancy = occupancy.scatter_add(2, place, letters)
    return torch.cat([occupancy[..., :-1], posterior[..., 0::2].sum(dim=2, keepdim=True)], dim=2)
