import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.act = nn.ReLU()
        self.drop = nn.Dropout(0.1)
        self.register_buffer("scale", torch.ones(width))
        self.frozen = nn.Linear(width, width)
        self.frozen.weight.requires_grad = False
        # not used any more, but older checkpoints hold it
        self.old = nn.Linear(width, width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)
