import torch
from torch import nn


class Prompt(nn.Module):
    def __init__(self, length, width, device):
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(length, width)).to(device)  # expect: ML207
        self.bias = nn.Parameter(torch.zeros(1, width), requires_grad=False).to(device, non_blocking=True)  # expect: ML207
        self.scale = nn.Parameter(torch.ones(width)) * 0.1  # expect: ML207
        self.shift = 0.5 * nn.Parameter(torch.rand(length) + torch.ones(length))  # expect: ML207

    def forward(self, x):
        return self.scale * torch.cat([self.tokens, x + self.bias]) + self.shift[:, None]
