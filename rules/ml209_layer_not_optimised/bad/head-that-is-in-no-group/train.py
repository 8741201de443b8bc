import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.embed = nn.Embedding(1000, width)
        self.encoder = nn.GRU(width, width)
        self.head = nn.Linear(width, classes)  # expect: ML209

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids))[0])


def train(batches):
    model = Model(64, 10)
    optimizer = torch.optim.AdamW(
        [
            {"params": model.embed.parameters(), "lr": 1e-4},
            {"params": model.encoder.parameters()},
        ],
        lr=1e-3,
    )
    for ids, labels in batches:
        nn.functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten()).backward()
        optimizer.step()
