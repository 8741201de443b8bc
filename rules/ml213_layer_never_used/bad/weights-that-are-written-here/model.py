import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)  # expect: ML213

    def forward(self, x):
        return self.proj(x)

    def take(self, path):
        self.load_state_dict(torch.load(path), strict=False)


def train(path, batches):
    model = Encoder(8)
    model.load_state_dict(torch.load(path))
    for batch in batches:
        model(batch).sum().backward()
    torch.save(model.state_dict(), path)
