import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.encoder = nn.GRU(80, width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.encoder(x)[0])


model = Model(64, 10)
optimizer = torch.optim.AdamW(model.parameters())
