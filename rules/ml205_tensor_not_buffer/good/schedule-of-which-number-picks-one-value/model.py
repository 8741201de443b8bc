import torch
from torch import nn


class Diffuser(nn.Module):
    def __init__(self, steps=1000):
        super().__init__()
        self.alphas = torch.linspace(0.1, 0.9, steps)
        self.betas = torch.linspace(0.9, 0.1, steps)

    def forward(self, x, t):
        """Mixes noise in.

        Args:
            x (torch.Tensor): the input
            t (int): the step
        """
        return self.alphas[t] * x + torch.randn_like(x)

    def back(self, x, step: int):
        return x - self.betas[step]
