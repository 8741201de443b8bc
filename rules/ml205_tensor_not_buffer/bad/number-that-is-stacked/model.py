import torch
from torch import nn


class Losses(nn.Module):
    def __init__(self, width, alpha):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.alpha = torch.tensor(float(alpha))  # expect: ML205
        self.zero = torch.zeros(())  # expect: ML205

    def forward(self, x):
        loss = self.lin(x).sum()
        return torch.stack([loss, self.alpha]).mean() + torch.hstack((loss, self.zero)).sum()
