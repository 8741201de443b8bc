import torch
from torch import nn


class Blur(nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.register_buffer("kernel", kernel)

    def forward(self, x):
        blur = nn.Conv2d(x.size(1), x.size(1), 3, groups=x.size(1), bias=False)
        blur.weight.data = self.kernel.expand(x.size(1), 1, 3, 3)
        edges = nn.Conv2d(1, 1, 3, bias=False)
        with torch.no_grad():
            edges.weight.copy_(self.kernel)
        copy = nn.Linear(3, 3)
        copy.load_state_dict(self.saved)
        return edges(copy(blur(x)))
