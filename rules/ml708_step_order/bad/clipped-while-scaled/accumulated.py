import torch
from torch import GradScaler, nn


def train(model: nn.Module, loader, every):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = GradScaler("cuda")
    for number, inputs in enumerate(loader):
        scaler.scale(model(inputs).mean() / every).backward()
        if (number + 1) % every == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: ML708
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
