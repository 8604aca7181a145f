import pytest
import torch
from torch import nn

from glissando.errors import TrainingError
from glissando.train.optim import adamw
from glissando.train.state import (
    load_state,
    module_tensors,
    optimizer_tensors,
    restore_module,
    restore_optimizer,
    save_state,
)


def trained(seed: int) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    optimizer = adamw(network, rate=0.1, betas=(0.9, 0.999), weight_decay=0.1)
    take_step(network, optimizer)
    return network, optimizer


def take_step(network: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    network(torch.linspace(-1, 1, 8).view(4, 2)).square().sum().backward()
    optimizer.step()


def test_a_network_and_its_optimizer_go_on_as_if_nothing_had_been(tmp_path):
    network, optimizer = trained(1)
    tensors = {**module_tensors(network, "network"), **optimizer_tensors(optimizer, network)}
    save_state(tmp_path / "checkpoint.safetensors", tensors, {"step": 7})
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.safetensors"]
    loaded, info = load_state(tmp_path / "checkpoint.safetensors")
    assert info == {"step": 7}
    other, other_optimizer = trained(2)
    restore_module(other, "network", loaded)
    restore_optimizer(other_optimizer, other, loaded)
    take_step(network, optimizer)
    take_step(other, other_optimizer)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name


def test_missing_or_damaged_files_are_named(tmp_path):
    file = tmp_path / "checkpoint.safetensors"
    with pytest.raises(TrainingError, match="nothing to resume"):
        load_state(file)
    save_state(file, {"network/x": torch.zeros(100)}, {})
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(TrainingError, match="is damaged"):
        load_state(file)
    file.write_bytes(b"not a checkpoint")
    with pytest.raises(TrainingError, match="is damaged"):
        load_state(file)


def test_a_checkpoint_of_another_network_is_refused():
    network, optimizer = trained(1)
    with pytest.raises(TrainingError, match="does not fit the network"):
        restore_module(network, "network", {"network/0.weight": torch.zeros(5, 5)})
    with pytest.raises(TrainingError, match=r"no optimizer state of 0\.weight"):
        restore_optimizer(optimizer, network, {})
