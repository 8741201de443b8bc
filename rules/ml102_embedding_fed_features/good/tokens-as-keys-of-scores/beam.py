import torch
from torch import nn


class Beam(nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.head = nn.Linear(width, vocab_size)
        self.embed = nn.Embedding(vocab_size, width)

    def scores(self, hidden):
        scores = {}
        for score, token in zip(*self.head(hidden).log_softmax(-1).topk(5)):
            scores[(0, token.item())] = score.item()
        return scores

    def best(self, hidden):
        scores = self.scores(hidden)
        ranked = [*sorted(scores, key=scores.get), max(scores, key=scores.get), *scores, next(iter(scores))]
        ranked.extend(scores)
        return self.embed(torch.tensor(ranked))

    def counted(self, hidden):
        numbered = [sequence for _, sequence in enumerate(self.scores(hidden))]
        paired = [sequence for sequence, _ in zip(self.scores(hidden), range(5))]
        return self.embed(torch.tensor(numbered + paired + list(self.scores(hidden))))
