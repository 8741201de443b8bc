import torch
from torch import nn


class Losses(nn.Module):
    def __init__(self, width, alpha):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.register_buffer("alpha", torch.tensor(float(alpha)), persistent=False)  # expect: ML205
        self.register_buffer("zero", torch.zeros(()), persistent=False)  # expect: ML205

    def forward(self, x):
        loss = self.lin(x).sum()
        return torch.stack([loss, self.alpha]).mean() + torch.hstack((loss, self.zero)).sum()
