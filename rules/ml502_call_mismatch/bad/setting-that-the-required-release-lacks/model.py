import torch
from torch import nn


def schedule(model: nn.Module):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return torch.optim.lr_scheduler.StepLR(optimizer, 30, verbose=True)  # expect: ML502


if __name__ == "__main__":
    schedule(nn.Linear(2, 2))
