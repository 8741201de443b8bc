import torch
from torch import nn


class Timed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.x = torch.randn(4, width, device="cuda")  # expect: ML212
        self.to("cuda").to(torch.float16)

    def run(self):
        return self.proj(self.x)


class OnOneDevice(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x.cuda(non_blocking=True))  # expect: ML212
