import torch
from torch import nn


def sometimes(model: nn.Module, loader, every):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for number, inputs in enumerate(loader):
        scaler.scale(model(inputs).mean()).backward()
        if number % every:
            continue
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def out_of_sight(model: nn.Module, loader, finish):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        scaler.step(optimizer)
        finish(scaler)
        optimizer.zero_grad()


def once(model: nn.Module, inputs):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(model(inputs).mean()).backward()
    scaler.step(optimizer)
