import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def squared(self, x):
        n, _ = x.shape
        target = x.sum(dim=1)
        error = self.fc(x) - target  # expect: ML521
        return (error**2).mean()

    def absolute(self, x):
        n, _ = x.shape
        prediction = self.fc(x)
        return torch.mean(torch.abs(x.mean(dim=1) - prediction))  # expect: ML521

    def summed(self, x):
        n, _ = x.shape
        return (self.fc(x) - torch.ones(n)).pow(2).sum()  # expect: ML521
