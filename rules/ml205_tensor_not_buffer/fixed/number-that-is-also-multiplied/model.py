import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.proj = nn.Linear(classes, classes)
        self.register_buffer("most", torch.tensor([3]), persistent=False)  # expect: ML205
        self.register_buffer("rows", torch.ones(classes), persistent=False)  # expect: ML205

    def forward(self, x):
        scores = self.proj(x)
        values = torch.topk(scores, self.most)[0] * self.most
        return values + torch.roll(self.rows, scores.argmax()) * scores
