import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.table = nn.Embedding(length, width)

    def forward(self, x):
        positions = torch.arange(x.size(1), device=x.device)  # expect: ML211
        return x + self.table(positions)


def run(model, batches, device):
    model = model.to(device)
    return [model(batch.to(device)) for batch in batches]
