import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, passages, chosen=None):
        scores = self.score(passages).squeeze(-1)
        return scores if chosen is None else ranking_loss(scores, chosen)


def ranking_loss(scores, chosen):
    first = torch.zeros(len(scores), dtype=torch.long).cuda()  # expect: ML212
    return nn.functional.cross_entropy(scores, first) + spread(scores * chosen)


def spread(scores):
    total = scores.exp().sum(1)
    return torch.log(total + torch.ones(len(scores), device="cuda") * (total == 0)).mean()  # expect: ML212


def main(ranker, passages, device):
    print(ranker.to(device)(passages.to(device)))
