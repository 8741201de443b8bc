import torch
from torch import nn
from torch import optim
from torch.optim.lr_scheduler import StepLR


def train():
    model = nn.Linear(3, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_gard()  # expect: ML506
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()


class Trainer:
    def __init__(self):
        self.optimizer = torch.optim.Adam([nn.Parameter(torch.ones(2))])
        self.scheduler = StepLR(self.optimizer, 10)

    def end(self):
        self.scheduler.get_last_rate()  # expect: ML506
