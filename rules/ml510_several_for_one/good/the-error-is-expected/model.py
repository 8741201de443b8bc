import torch
import torch.nn.functional as F
from torch import nn


def first(model: nn.LSTM, x: torch.Tensor) -> torch.Tensor:
    out = nn.LSTM(8, 8)(x)
    try:
        return F.relu(out)
    except TypeError:
        return F.relu(out[0])
