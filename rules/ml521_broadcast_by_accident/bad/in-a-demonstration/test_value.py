import torch
import torch.nn.functional as F
from torch import nn


def test_value():
    layer = nn.Linear(3, 1)
    x = torch.rand(5, 3)
    assert F.mse_loss(layer(x), torch.zeros(5)) >= 0  # expect: ML521
