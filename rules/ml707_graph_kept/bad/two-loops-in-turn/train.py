import torch
from torch import nn


def train(model: nn.Module, first, second, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(epochs):
        total, other = 0.0, 0.0
        for inputs in first:
            optimizer.zero_grad()
            loss = model(inputs).mean()
            loss.backward()
            optimizer.step()
            total += loss  # expect: ML707
        for inputs in second:
            optimizer.zero_grad()
            loss = model(inputs).square().mean()
            loss.backward()
            optimizer.step()
            other += loss  # expect: ML707
        print(total, other)
