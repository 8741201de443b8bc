import numpy as np
import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def solve():
    layer = nn.Linear(4, 4)
    rows = torch.from_numpy(np.zeros((2, 4)))
    return layer(rows) @ torch.zeros(4, 2) + rows @ torch.ones(4, 2)
