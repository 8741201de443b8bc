import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.proj = nn.Linear(classes, classes)

    def forward(self, x):
        scores = self.proj(x)
        most = torch.tensor([3])
        values = torch.topk(scores, most)[0] + torch.topk(k=most, input=x)[0]
        return values * scores.view(most, -1) + torch.roll(scores, torch.tensor([1]))
