import torch
from torch import nn


layers = nn.ModuleList([nn.Linear(4, 4)])


def run(x: torch.Tensor) -> torch.Tensor:
    return layers(x)  # expect: ML512


run(torch.ones(1, 4))
