import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.score = nn.Linear(width, 1)

    def forward(self, ids, mask, mel):
        scores = self.score(self.embed(ids)).squeeze(-1).masked_fill(mask, -10000)
        mel = F.pad(mel, (0, 4), value=-20)
        return torch.softmax(scores, dim=-1), mel
