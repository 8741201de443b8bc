import torch
from torch import nn


class Prompted(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.task = nn.Embedding(4, width)

    def forward(self, ids):
        prompt = torch.tensor([[0, 3]])
        return self.task(prompt) + self.task(torch.minimum(ids, torch.tensor(4) - 1))
