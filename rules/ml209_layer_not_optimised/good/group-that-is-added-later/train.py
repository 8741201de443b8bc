import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])


model = Model(64, 10)
optimizer = torch.optim.AdamW([*model.embed.parameters(), *model.encoder.parameters()])
optimizer.add_param_group({"params": model.head.parameters(), "lr": 1e-2})
