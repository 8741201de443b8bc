import torch
from torch import nn


class Steps(nn.Module):
    def __init__(self, n_steps):
        super().__init__()
        self.scales = self.make_scales(n_steps)  # expect: ML205

    def make_scales(self, n_steps):
        return torch.cumprod(1 - torch.linspace(1e-4, 0.02, n_steps), dim=0)

    def forward(self, x, step):
        return x * self.scales[step].view(-1, 1, 1)
