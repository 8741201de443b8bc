import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        return x * torch.clamp(self.scale, max=torch.tensor(4.6)).exp()  # expect: ML211
