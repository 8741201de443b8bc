import torch
from torch import nn
from torch.nn import functional as F


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(32, 9)

    def compute(self, features, lengths):
        return torch.softmax(self.head(features), dim=-1), lengths

    def objective(self, outputs, tags: torch.Tensor):
        predicted, lengths = outputs
        return F.cross_entropy(predicted, tags)  # expect: ML701

    def step(self, features: torch.Tensor, lengths: torch.Tensor, tags: torch.Tensor):
        outputs = self.compute(features, lengths)
        self.objective(outputs, tags).backward()
