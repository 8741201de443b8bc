import torch
from torch import nn


class Prompt(nn.Module):
    def __init__(self, length, width, device):
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(length, width).to(device))
        self.scale = nn.Parameter(torch.ones(width) * 0.1)
        self.frozen = nn.Parameter(torch.ones(width)).requires_grad_(False)

    def forward(self, x):
        return self.scale * torch.cat([self.tokens, x]) * self.frozen
