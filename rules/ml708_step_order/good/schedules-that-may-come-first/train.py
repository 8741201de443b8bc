import torch
from torch import nn


def with_epoch(model: nn.Module, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for epoch in range(epochs):
        scheduler.step(epoch)
        for inputs in loader:
            optimizer.zero_grad()
            model(inputs).mean().backward()
            optimizer.step()


def later(model: nn.Module, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for epoch in range(epochs):
        if epoch > 0:
            scheduler.step()
        for inputs in loader:
            optimizer.zero_grad()
            model(inputs).mean().backward()
            optimizer.step()


def restored(model: nn.Module, loader, done):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for _ in range(done):
        scheduler.step()
    optimizer.step()
    for inputs in loader:
        scheduler.step()
        optimizer.zero_grad()
        model(inputs).mean().backward()
        optimizer.step()
