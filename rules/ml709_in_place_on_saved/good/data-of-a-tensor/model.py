import torch
from torch import nn


class Hidden(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        hidden = torch.relu(self.proj(x))
        hidden.data += 1
        hidden.data.clamp_(max=6)
        return hidden
