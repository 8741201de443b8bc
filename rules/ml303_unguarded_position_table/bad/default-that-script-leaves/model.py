import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab_size, width, device, max_length=100):
        super().__init__()
        self.device = device
        self.words = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(max_length, width)  # expect: ML303

    def forward(self, ids):
        batch, length = ids.shape
        positions = torch.arange(0, length).unsqueeze(0).repeat(batch, 1).to(self.device)
        return self.words(ids) + self.positions(positions)
