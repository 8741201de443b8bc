import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, passages):
        scores = self.score(passages).squeeze(-1)
        if scores.device.type == "cuda":
            return sorted_by_kernel(scores)
        return scores + margin(scores)


def sorted_by_kernel(scores):
    order = torch.zeros(len(scores), dtype=torch.long).cuda()
    return scores[order]


def margin(scores):
    return torch.ones(len(scores), device=scores.device)


def report(ranker, passages):
    first = torch.zeros(len(passages)).cuda()
    print(ranker.cuda()(passages.cuda()) + first)


def main(ranker, passages, device):
    report(ranker, passages)
    print(ranker.to(device)(passages.to(device)))
