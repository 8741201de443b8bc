import torch
from torch import nn


class Search(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def run(self, x, scores=False):
        h = self.fc(x)
        if scores:
            return h, h.sum(-1)
        return h

    def forward(self, x, scores=False):
        return self.run(x, scores)


def best(x: torch.Tensor):
    return Search()(x, scores=False).detach()
