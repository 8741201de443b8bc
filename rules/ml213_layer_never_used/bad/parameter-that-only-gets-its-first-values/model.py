import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.ssf_scale_1 = nn.Parameter(torch.ones(width))  # expect: ML213
        self.ssf_scale = nn.Parameter(torch.ones(width))
        self.heads = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))  # expect: ML213
        nn.init.normal_(self.ssf_scale_1, std=0.02)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.normal_(self.ssf_scale_1)
        for head in self.heads:
            head.reset_parameters()

    def forward(self, x):
        return x * self.ssf_scale
