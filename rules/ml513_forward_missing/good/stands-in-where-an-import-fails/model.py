import torch
from torch import nn


try:
    from fused import Norm
except ImportError:

    class Norm(nn.Module):
        def __init__(self, width):
            raise RuntimeError("fused is not installed")


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = Norm(width)

    def forward(self, x: torch.Tensor):
        return self.norm(x)
