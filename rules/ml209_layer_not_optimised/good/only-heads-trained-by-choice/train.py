import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.stem = nn.Linear(80, width)
        self.encoder = nn.GRU(width, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.norm(self.encoder(self.stem(x))[0]))


model = Model(64, 10)
optimizer = torch.optim.AdamW([{"params": model.norm.parameters()}, {"params": model.head.parameters()}])
