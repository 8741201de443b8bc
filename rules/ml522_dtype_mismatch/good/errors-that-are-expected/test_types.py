import pytest
import torch
from torch import nn


def test_whole_numbers_are_refused():
    with pytest.raises(RuntimeError):
        nn.Linear(4, 4)(torch.arange(4))


def average(x):
    try:
        return torch.arange(4).mean()
    except RuntimeError:
        return x
