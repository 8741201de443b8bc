from torch import nn
import torch
from torch.optim import SGD
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader


def prepare():
    model = nn.Linear(3, 3)
    return SGD(model.parameters(), learning_rate=0.1)  # expect: ML502


def schedule():
    optimizer = torch.optim.Adam(nn.Linear(3, 3).parameters())
    return StepLR(optimizer)  # expect: ML502


def load():
    return DataLoader([1, 2, 3], batch_size=2, suffle=True)  # expect: ML502
