import torch
from torch import nn


def train():
    model = nn.Linear(4, 3)
    loss = nn.CrossEntropyLoss(model(torch.randn(2, 4)), torch.tensor([0, 1]))  # expect: ML511
    loss.backward()


train()
