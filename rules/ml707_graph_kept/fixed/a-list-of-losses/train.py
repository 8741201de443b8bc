import torch
from torch import nn


def train(model: nn.Module, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    losses = []
    for epoch in range(epochs):
        for inputs in loader:
            optimizer.zero_grad()
            loss = model(inputs).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())  # expect: ML707
        print(epoch, sum(losses) / len(losses))
