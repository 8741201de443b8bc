import torch
import torch.nn.functional as F
from torch import nn

from targets import corrupted


class Denoiser(nn.Module):
    def __init__(self, words=1000, width=64):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.head = nn.Linear(width, words)

    def loss(self, scores, targets):
        return F.cross_entropy(scores.view(-1, 1000), targets.view(-1))

    def forward(self, tokens):
        chosen = torch.rand(tokens.shape) < 0.15
        inputs, targets = corrupted(tokens, chosen, 3)
        return self.loss(self.head(self.table(inputs)), targets)
