import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x, is_flat: bool):
        n, _ = x.shape
        values, target = self.fc(x), torch.zeros(n)
        if values.shape == target.shape:
            return F.mse_loss(values, target)
        return F.mse_loss(values.reshape(-1), target)
