import torch
from torch import nn


def draw(scores, used):
    kept = torch.gather(scores, 1, used)
    scores.scatter_(1, used, kept / 2)
    chances = torch.softmax(scores, dim=-1)
    return chances.argmax(dim=-1), chances


def first(chances):
    return torch.multinomial(chances, 1)


class Writer(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.head = nn.Linear(width, words)

    def forward(self, ids, steps: int):
        for _ in range(steps):
            scores = self.head(self.table(ids[:, -1]))
            following, _ = draw(scores, ids)
            ids = torch.cat([ids, following[:, None]], dim=1)
            chances = torch.sigmoid(self.head(self.table(ids[:, -1])))
            chances += 0.1
            ids = torch.cat([ids, first(chances)], dim=1)
        return ids
