import torch
from torch import nn


def train(x: torch.Tensor, y: torch.Tensor):
    weight = torch.ones(3)
    criterion = nn.CrossEntropyLoss(weight)
    other = nn.NLLLoss(torch.ones(3), ignore_index=0)
    loss = criterion(x, y) + other(x, y)
    loss.backward()
