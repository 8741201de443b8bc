import torch
from torch import nn


class Detail(nn.Module):
    def __init__(self, classes):
        super().__init__()
        kernel = torch.ones(9).reshape(1, 1, 3, 3).expand(classes, 1, 3, 3)
        self.kernel = kernel.requires_grad_(False)

    def forward(self, x):
        return nn.functional.conv2d(x, self.kernel.to(x.device))
