import torch

from glissando.train.lion import Lion


def test_a_step_by_hand():
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))
    lion = Lion([weight], lr=0.1, betas=(0.9, 0.98), weight_decay=0.5)
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


def test_many_steps_follow_the_published_update():
    torch.manual_seed(0)
    weights = [torch.nn.Parameter(torch.randn(3, 4)), torch.nn.Parameter(torch.randn(5))]
    plain = [[weight.detach().clone(), torch.zeros_like(weight.detach())] for weight in weights]
    lion = Lion([{"params": weights[:1], "weight_decay": 0.1}, {"params": weights[1:]}], lr=1e-2, betas=(0.9, 0.99))
    for step in range(30):
        lion.param_groups[0]["lr"] = rate = 1e-2 / (1 + step)
        for number, (weight, slot) in enumerate(zip(weights, plain, strict=True)):
            gradient = torch.randn_like(weight)
            weight.grad = gradient.clone()
            decay, lr = ((0.1, rate), (0.0, 1e-2))[number]
            update = torch.sign(0.9 * slot[1] + 0.1 * gradient)
            slot[0] = slot[0] - lr * (update + decay * slot[0])
            slot[1] = 0.99 * slot[1] + 0.01 * gradient
        lion.step()
    for weight, slot in zip(weights, plain, strict=True):
        torch.testing.assert_close(weight.detach(), slot[0])


def test_what_has_no_gradient_stays():
    used, unused = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    used.grad = torch.ones(2)
    Lion([used, unused], lr=0.1).step()
    assert torch.equal(unused.detach(), torch.ones(2))
    assert not torch.equal(used.detach(), torch.ones(2))
