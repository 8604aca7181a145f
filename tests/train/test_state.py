import pytest
import torch
from torch import nn

from glissando.errors import TrainingError
from glissando.train.optim import adamw
from glissando.train.state import restore_module, restore_optimizer


def test_a_checkpoint_of_another_network_is_refused():
    network = nn.Linear(2, 3)
    with pytest.raises(TrainingError, match="does not fit the network"):
        restore_module(network, "network", {"network/weight": torch.zeros(5, 5)})
    optimizer = adamw(network, rate=0.1, betas=(0.9, 0.999), weight_decay=0.1)
    network(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    with pytest.raises(TrainingError, match="no optimizer state of weight"):
        restore_optimizer(optimizer, network, {})
