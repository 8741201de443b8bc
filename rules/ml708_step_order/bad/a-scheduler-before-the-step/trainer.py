import torch
from torch import nn


class Trainer:
    def __init__(self, model: nn.Module):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters())
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=100)

    def fit(self, loader):
        for inputs in loader:
            self.optimizer.zero_grad()
            self.update(self.model(inputs).mean())

    def update(self, loss):
        loss.backward()
        self.schedule.step()  # expect: ML708
        self.optimizer.step()
