import torch.nn.functional as F
from torch import nn


class Loss(nn.Module):
    def __init__(self, ignored, **options):
        super().__init__()
        self.ignored = ignored
        self.criterion = nn.CrossEntropyLoss(**options)

    def forward(self, scores, labels, mask):
        targets = labels.masked_fill(mask, -1)
        return F.cross_entropy(scores, targets, ignore_index=self.ignored) + self.criterion(scores, targets)
