import torch
from torch import nn


class Bumps(nn.Module):
    def __init__(self, means: torch.Tensor, scales: torch.Tensor, width=8):
        super().__init__()
        self.means = torch.tensor(means)  # expect: ML205
        self.scales = scales  # expect: ML205
        self.fc = nn.Linear(width, 1)

    def forward(self, x):
        return torch.exp(-((self.fc(x) - self.means) ** 2) * self.scales)
