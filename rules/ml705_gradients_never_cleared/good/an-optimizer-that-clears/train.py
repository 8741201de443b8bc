import torch
from torch import nn


class Tidy(torch.optim.SGD):
    def step(self, closure=None):
        super().step(closure)
        self.zero_grad()


def train(model: nn.Module, loader):
    optimizer = Tidy(model.parameters(), lr=0.1)
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
