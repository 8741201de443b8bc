import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.dropout(self.encoder(self.embed(ids))[0]))


model = Model(64, 10)
optimizer = torch.optim.AdamW(
    [
        {"params": model.embed.parameters(), "lr": 1e-4},
        {"params": [*model.encoder.parameters(), *model.head.parameters()]},
    ]
)
