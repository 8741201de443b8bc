import torch
from torch import nn


class Trainer:
    def __init__(self, model: nn.Module, rate):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=rate)

    def update(self, inputs, targets):
        loss = self.criterion(self.model(inputs), targets)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()  # expect: ML705
        return loss.item()

    def fit(self, loader):
        for number, (inputs, targets) in enumerate(loader):
            print(number, self.update(inputs, targets))
