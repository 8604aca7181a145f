"""From key logits and a gate to the distribution over keys and blank (eq. 6)."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

# Not -inf: ctc_loss then returns NaN gradients. Fits in float16.
PADDING_LOGIT = -1e4


class EncoderOutput(NamedTuple):
    """The encoder's output for a batch of swipes.

    Attributes:
        log_probs: [B, T, K + 1] log-probabilities of the keys, blank last.
        coefficients: [B, T, N * N] the field over the keyboard.
        gate: [B, T] logit of the intention; with a joint softmax, the blank's logit.
    """

    log_probs: Tensor
    coefficients: Tensor
    gate: Tensor


def key_logits(coefficients: Tensor, basis: Tensor, mask: Tensor) -> Tensor:
    """Read the field at the keys (eq. 2); padded keys get ``PADDING_LOGIT``.

    Args:
        coefficients: [B, T, N * N].
        basis: [B, K, N * N].
        mask: [B, K] True for real keys.

    Returns:
        [B, T, K] float32.
    """
    logits = coefficients.float() @ basis.float().transpose(1, 2)
    return torch.where(mask[:, None], logits, PADDING_LOGIT)


def gated_log_probs(logits: Tensor, gate: Tensor) -> Tensor:
    """Split the gate's probability among the keys, and give the rest to blank (eq. 6).

    Args:
        logits: [B, T, K] of the keys.
        gate: [B, T] logit of the intention.

    Returns:
        [B, T, K + 1] log-probabilities, blank last, float32.
    """
    gate = gate.float()[..., None]
    # softplus is a stable log-sigmoid, and unlike torch's logsigmoid it stays one in ONNX.
    keys = F.log_softmax(logits.float(), dim=-1) - F.softplus(-gate)
    return torch.cat([keys, -F.softplus(gate)], dim=-1)


def joint_log_probs(logits: Tensor, blank: Tensor) -> Tensor:
    """One softmax over keys and blank, the report's baseline.

    Args:
        logits: [B, T, K] of the keys.
        blank: [B, T] logit of blank.

    Returns:
        [B, T, K + 1] log-probabilities, blank last, float32.
    """
    return F.log_softmax(torch.cat([logits.float(), blank.float()[..., None]], dim=-1), dim=-1)
