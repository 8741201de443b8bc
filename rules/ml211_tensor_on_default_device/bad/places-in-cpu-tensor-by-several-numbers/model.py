import torch
from torch import nn


class Draw(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.score = nn.Linear(width, rows)

    def forward(self, x):
        order = torch.randperm(x.size(1))  # expect: ML211
        noise = torch.rand(x.size(1))  # expect: ML211
        best = self.score(x).argmax(dim=-1)
        rows = [order[best[i]] for i in range(x.size(0))]
        return rows, noise[best[0, 1:]]


def run(model, batches, device):
    model = model.to(device)
    return [model(batch.to(device)) for batch in batches]
