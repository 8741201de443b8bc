import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, is_wide: bool):
        super().__init__()
        self.fc = nn.Linear(4, 8) if is_wide else nn.Linear(4, 1)

    def forward(self, x, is_flat: bool):
        n, _ = x.shape
        target = torch.zeros(n) if is_flat else torch.zeros(n, 1)
        return F.mse_loss(nn.Linear(4, 1)(x), target), self.fc(x).softmax(dim=-1)
