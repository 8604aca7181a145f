import os

import pytest
import torch

from glissando.train.losses import ctc_loss, recursion

pytest.importorskip("triton", reason="no Triton here")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytestmark = pytest.mark.skipif(
    DEVICE == "cpu" and not os.environ.get("TRITON_INTERPRET"), reason="no GPU; TRITON_INTERPRET=1 runs it on the CPU"
)


def make_words(batch: int = 7, frames: int = 9, keys: int = 5, longest: int = 4):
    generator = torch.Generator().manual_seed(1)
    logits = 3 * torch.randn(batch, frames, keys + 1, generator=generator)
    targets = torch.randint(2, (batch, longest), generator=generator)
    return logits.to(DEVICE), targets.to(DEVICE), (torch.arange(batch) % longest + 1).to(DEVICE)


def test_the_kernel_computes_the_recursion():
    from glissando.train.ctc_kernel import ctc_recursion

    emissions = torch.randn(6, 8, 11, generator=torch.Generator().manual_seed(0)).to(DEVICE) - 3
    skip = (torch.rand(6, 11, generator=torch.Generator().manual_seed(2)) < 0.4).to(DEVICE)
    torch.testing.assert_close(ctc_recursion(emissions, skip), recursion(emissions, skip), rtol=1e-5, atol=1e-5)


def test_the_fused_loss_is_the_plain_one():
    import glissando.train.ctc_kernel  # noqa: F401

    logits, targets, lengths = make_words()
    results = []
    for fused in (False, True):
        leaf = logits.clone().requires_grad_()
        cost = ctc_loss(leaf.log_softmax(2), targets, lengths, fused=fused)
        cost.sum().backward()
        results.append((cost.detach(), leaf.grad))
    torch.testing.assert_close(results[0], results[1], rtol=1e-5, atol=1e-5)
