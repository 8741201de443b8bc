import torch
from torch import nn


def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.cuda.amp.GradScaler()
    for inputs in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = model(inputs).mean()
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: ML708
        scaler.step(optimizer)
        scaler.update()
