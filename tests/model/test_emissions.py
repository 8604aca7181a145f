import math

import pytest
import torch

from glissando.model.emissions import PADDING_LOGIT, gated_log_probs, joint_log_probs, key_logits


def test_both_distributions_by_hand():
    # Softmax of (0, ln 3) is (1/4, 3/4); the gate's logit ln 4 lets 4/5 through. Jointly, the weights are 1, 3 and 4.
    logits, gate = torch.tensor([[[0.0, math.log(3)]]]), torch.tensor([[math.log(4)]])
    torch.testing.assert_close(gated_log_probs(logits, gate).exp(), torch.tensor([[[0.2, 0.6, 0.2]]]))
    torch.testing.assert_close(joint_log_probs(logits, gate).exp(), torch.tensor([[[1 / 8, 3 / 8, 4 / 8]]]))


@pytest.mark.parametrize("log_probs", [gated_log_probs, joint_log_probs])
def test_sums_to_one_and_stays_finite_at_any_gate(log_probs):
    gate = torch.tensor([[-1000.0, -50, -1, 0, 1, 50, 1000]])
    got = log_probs(torch.randn(1, 7, 26) * 30, gate)
    assert torch.isfinite(got).all()
    torch.testing.assert_close(got.exp().sum(-1), torch.ones(1, 7))


def test_logits_are_the_field_at_the_keys_and_padding_is_low():
    coefficients, basis = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    mask = torch.tensor([[True] * 5, [True, True, False, True, False]])
    got = key_logits(coefficients, basis, mask)
    assert got.shape == (2, 3, 5)
    assert got[1, 2, 3] == pytest.approx(float(coefficients[1, 2] @ basis[1, 3]), abs=1e-5)
    assert (got[1, :, [2, 4]] == PADDING_LOGIT).all()
    assert (got[0] > PADDING_LOGIT / 2).all()
