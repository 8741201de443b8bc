import torch
from torch import nn


def run(model: nn.Module):
    best = torch.argmax([1.0, 2.0, 3.0])  # expect: ML509
    torch.sigmoid("0.5")  # expect: ML509
    return best, torch.optim.Adam({"model": model}, lr=1e-3)  # expect: ML509
