import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.relu(self.proj(x)) * torch.exp(self.gain) * torch.exp(self.proj.bias)
