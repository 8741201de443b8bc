import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x, weights):
        n, _ = x.shape
        (m,) = weights.shape
        error = self.fc(x) - weights
        return error.pow(2).mean() + F.mse_loss(self.fc(x), torch.zeros(1)) + F.mse_loss(self.fc(x[:1]), torch.zeros(1))

    def scalar(self, x):
        n, _ = x.shape
        return F.mse_loss(self.fc(x).mean(), torch.tensor(0.0)) + (self.fc(x) - 1.0).pow(2).mean()
