import torch
from torch import nn


class Bumps(nn.Module):
    def __init__(self, means: torch.Tensor, scales: torch.Tensor, width=8):
        super().__init__()
        self.register_buffer("means", torch.tensor(means), persistent=False)  # expect: ML205
        self.register_buffer("scales", scales, persistent=False)  # expect: ML205
        self.fc = nn.Linear(width, 1)

    def forward(self, x):
        return torch.exp(-((self.fc(x) - self.means) ** 2) * self.scales)
