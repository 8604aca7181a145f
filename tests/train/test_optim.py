import pytest
import torch
from torch import nn

from glissando.train.optim import Average, Lion, adamw, scheduled_rate, set_rate


def test_one_step_of_adamw_by_hand():
    layer = nn.Linear(1, 1)
    nn.init.constant_(layer.weight, 2.0)
    nn.init.constant_(layer.bias, 2.0)
    optimizer = adamw(layer, rate=0.1, betas=(0.9, 0.999), weight_decay=0.5)
    set_rate(optimizer, 0.01)
    layer(torch.tensor([[1.0]])).sum().backward()
    optimizer.step()
    # The first step of Adam moves by the rate, after the weight has shrunk by rate * decay.
    assert layer.weight.item() == pytest.approx(2.0 * (1 - 0.01 * 0.5) - 0.01, rel=1e-5)
    assert layer.bias.item() == pytest.approx(2.0 - 0.01, rel=1e-5)


def test_rate_rises_to_the_peak_and_falls_to_the_floor():
    def rate(progress: float) -> float:
        return scheduled_rate(progress, peak=1e-3, floor=2e-5, warm_up=0.05)

    assert rate(0.025) == pytest.approx(5e-4)
    assert rate(0.05) == pytest.approx(1e-3)
    assert rate(0.525) == pytest.approx((1e-3 + 2e-5) / 2)
    assert rate(1.0) == pytest.approx(2e-5)
    assert rate(1.5) == pytest.approx(2e-5)
    falling = [rate(0.05 + 0.95 * i / 100) for i in range(101)]
    assert falling == sorted(falling, reverse=True)
    assert scheduled_rate(0.0, peak=1.0, floor=0.0, warm_up=0.0) == 1.0


def test_average_follows_weights_and_batch_norm_by_hand():
    norm = nn.BatchNorm1d(1)
    average = Average(norm, 0.9)
    with torch.no_grad():
        norm.weight.fill_(11.0)
        norm.running_mean.fill_(20.0)
        norm.num_batches_tracked.fill_(7)
    average.update(norm, step=10**6)
    assert average.module.weight.item() == pytest.approx(1.0 + 0.1 * 10)
    assert average.module.running_mean.item() == pytest.approx(2.0)
    assert average.module.num_batches_tracked.item() == 7
    assert not average.module.weight.requires_grad
    assert not average.module.training


def test_one_step_of_lion_by_hand():
    weight = nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))
    unused = nn.Parameter(torch.ones(2))  # it has no gradient, and stays
    lion = Lion([weight, unused], lr=0.1, betas=(0.9, 0.98), weight_decay=0.5)
    weight.grad = torch.tensor([4.0, -1.0, 0.0])
    lion.step()
    # No momentum yet: the sign of the gradient, and decay of half a tenth.
    torch.testing.assert_close(weight.detach(), torch.tensor([1 - 0.1 - 0.05, -2 + 0.1 + 0.1, 3 - 0.15]))
    torch.testing.assert_close(lion.state[weight]["momentum"], torch.tensor([0.08, -0.02, 0.0]))
    weight.grad = torch.tensor([-0.5, 0.1, 1.0])
    before = weight.detach().clone()
    lion.step()
    # 0.9 * 0.08 - 0.1 * 0.5 > 0: the momentum outvotes the gradient.
    signs = torch.tensor([1.0, -1.0, 1.0])
    torch.testing.assert_close(weight.detach(), before - 0.1 * (signs + 0.5 * before))
    assert torch.equal(unused.detach(), torch.ones(2))
