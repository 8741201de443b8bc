import torch
from torch import nn


class Trainer:
    def __init__(self, model: nn.Module):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())
        self.total = 0.0
        self.history = []

    def fit(self, loader):
        sums = {"loss": 0.0}
        for inputs in loader:
            self.optimizer.zero_grad()
            loss = self.model(inputs).mean()
            loss.backward()
            self.optimizer.step()
            self.total += loss  # expect: ML707
            self.history.append(loss)  # expect: ML707
            sums["loss"] += loss  # expect: ML707
        return sums
