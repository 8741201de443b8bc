import itertools

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(80, width), nn.ReLU(), nn.Linear(width, width))
        self.norm = nn.LayerNorm(width)  # expect: ML209
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.dropout(self.norm(self.backbone(x))))

    def configure_optimizers(self):
        parameters = itertools.chain(self.backbone.parameters(), self.head.parameters())
        return torch.optim.Adam(parameters, lr=1e-3)
