import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        room = torch.empty(x.size(1), device=x.device)  # expect: ML211
        steps = torch.linspace(0, 1, x.size(1), out=room)
        ramp = torch.arange(x.size(1), out=None, device=x.device)  # expect: ML211
        product = torch.mul(self.proj(x), torch.ones(x.size(1), device=x.device), out=torch.empty_like(x))  # expect: ML211
        return product * steps + self.proj(x) * ramp
