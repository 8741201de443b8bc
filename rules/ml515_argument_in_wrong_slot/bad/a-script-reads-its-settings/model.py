import torch
from torch import nn

settings = {"channels": 4, "ceil_mode": True}
pool = nn.MaxPool1d(3, 1, 1, 1, settings["ceil_mode"])  # expect: ML515


def run(x: torch.Tensor) -> torch.Tensor:  # (batch, channels, time)
    return pool(x)
