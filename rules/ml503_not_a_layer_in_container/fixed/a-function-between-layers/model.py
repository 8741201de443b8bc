import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(width, width),
            nn.ReLU(),  # expect: ML503
            nn.Linear(width, 2),
        )

    def forward(self, x):
        return self.net(x)
