import torch
from torch import nn


class Prompted(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.task = nn.Embedding(4, width)  # expect: ML104
        self.encoder = nn.GRU(width, width)

    def forward(self):
        prompt = torch.tensor([[0, 4]])
        return self.encoder(self.task(prompt))
