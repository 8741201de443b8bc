import torch
from torch import nn


def start(length, width):
    return torch.zeros(length, width).requires_grad_()


def optimizer_of(tensors, rate):
    return torch.optim.Adam([{"params": tensors, "lr": rate}])


def placed(tensor, device):
    return tensor.to(device)  # expect: ML207


def train(device="cuda"):
    model = nn.Linear(16, 2).to(device)
    tokens = start(4, 16)
    optimizer = optimizer_of([tokens], 1e-3)
    tokens = placed(tokens, device)

    def loss():
        optimizer.zero_grad()
        found = model(tokens).square().mean()
        found.backward()
        return found

    for _ in range(100):
        optimizer.step(loss)
    return tokens
