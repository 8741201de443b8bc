import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, 1000, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])


model = Model(64)
optimizer = torch.optim.AdamW([*model.embed.parameters(), *model.encoder.parameters()])
