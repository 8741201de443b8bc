import math

import torch
import torch.nn.functional as F
from torch import nn


def best(scores, most):
    values, places = torch.topk(scores, most)
    return values.masked_fill(places < 2, 0)


class Sampler(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.proj = nn.Linear(classes, classes)
        self.most = torch.LongTensor([3])
        self.rows = torch.tensor([4])
        self.heat = torch.tensor([2.0])
        self.sizes = torch.tensor([2, 3])

    def forward(self, x):
        scores = self.proj(x) / math.sqrt(self.heat) * float(self.heat)
        kept = best(scores, self.most) + scores.topk(self.most, dim=-1)[0]
        grouped = scores.view(self.rows, -1) + scores.reshape(*self.sizes) + scores.narrow(0, 0, self.rows)
        rolled = torch.roll(scores, self.rows) + scores.repeat(self.rows, 1) + F.dropout(scores, self.heat)
        made = torch.zeros(self.rows, device=x.device) + torch.arange(self.rows, device=x.device)
        for number in range(self.rows):
            made = made + scores[number] + scores[: self.rows].sum()
        return kept + grouped + rolled + made
