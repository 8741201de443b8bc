import torch
from torch import nn


def on_one_path(model: nn.Module, loader, is_mixed):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        if is_mixed:
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
        else:
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if is_mixed:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()


def prepare(scaler, optimizer, model):
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def switched_off(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for inputs in loader:
        optimizer.zero_grad()
        scaler.scale(model(inputs).mean()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def with_helper(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        optimizer.zero_grad()
        scaler.scale(model(inputs).mean()).backward()
        prepare(scaler, optimizer, model)
        scaler.step(optimizer)
        scaler.update()
