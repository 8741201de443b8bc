import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        weights = torch.softmax(self.score(x), dim=1)
        return (weights * x).sum(dim=1)

    def known(self, x):
        batch, length, width = x.shape
        scores = self.score(x).squeeze(-1)
        return torch.softmax(scores, dim=-1), self.score(x).softmax(dim=1), self.score(x).argmax(dim=1)
