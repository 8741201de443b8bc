import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.proj = nn.Linear(classes, classes)
        self.most = torch.tensor([3])  # expect: ML205
        self.rows = torch.ones(classes)  # expect: ML205

    def forward(self, x):
        scores = self.proj(x)
        values = torch.topk(scores, self.most)[0] * self.most
        return values + torch.roll(self.rows, scores.argmax()) * scores
