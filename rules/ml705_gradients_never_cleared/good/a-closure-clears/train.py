import torch
from torch import nn


def fit(model: nn.Module, inputs, targets, rounds):
    optimizer = torch.optim.LBFGS(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        return loss

    for _ in range(rounds):
        optimizer.step(closure)
