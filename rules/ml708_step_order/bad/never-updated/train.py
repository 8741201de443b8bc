import torch
from torch import nn


def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        optimizer.zero_grad()
        scaler.scale(model(inputs).mean()).backward()
        scaler.step(optimizer)  # expect: ML708
