import torch
import torch.nn.functional as F
from torch import nn

letters = sorted(set(open("verses.txt").read()))
count = len(letters)


class Bigram(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.table = nn.Embedding(letters, letters)

    def forward(self, ids, targets=None):
        scores = self.table(ids)
        if targets is None:
            return scores, None
        return scores, F.cross_entropy(scores.flatten(0, 1), targets.flatten())

    def write(self, ids, steps):
        for _ in range(steps):
            scores, _ = self(ids)
            drawn = torch.multinomial(scores[:, -1].softmax(-1), num_samples=1)
            ids = torch.cat([ids, drawn], dim=1)
        return ids


model = Bigram(count)
print(model.write(torch.zeros(1, 1, dtype=torch.long), 40))
