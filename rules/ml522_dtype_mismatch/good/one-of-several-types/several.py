import torch
from torch import nn


def layer_or_not(x, is_wide: bool, is_real: bool):
    layer = nn.Linear(4, 4) if is_wide else nn.Identity()
    rows = torch.rand(4) if is_real else torch.arange(4)
    steps = torch.zeros(4, dtype=torch.float32 if is_real else torch.long)
    steps += 0.5
    return layer(torch.arange(4)), layer(rows), rows.mean()


def loop(batches):
    total = torch.tensor(0)
    for batch in batches:
        total = total + batch.float().sum()
    return total.mean()
