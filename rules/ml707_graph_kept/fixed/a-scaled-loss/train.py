import torch
from torch import nn


def train(model: nn.Module, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    total = torch.zeros(())
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        total += loss.detach()  # expect: ML707
    print(total.item())


def accelerated(model: nn.Module, accelerator, optimizer, loader):
    total = 0.0
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        accelerator.backward(loss)
        optimizer.step()
        total += loss.item()  # expect: ML707
    return total
