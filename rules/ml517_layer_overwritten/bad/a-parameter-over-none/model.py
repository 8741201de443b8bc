import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width, learned=True):
        super().__init__()
        self.bias = None
        if learned:
            self.register_parameter("bias", nn.Parameter(torch.zeros(width)))  # expect: ML517

    def forward(self, x: torch.Tensor):
        return x if self.bias is None else x + self.bias
