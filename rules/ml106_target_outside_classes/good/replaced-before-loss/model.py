import torch
import torch.nn.functional as F


def loss(scores, labels, mask):
    targets = labels.masked_fill(mask, -1)
    counted = (targets != -1).sum()
    targets = torch.where(targets == -1, -100, targets)
    return F.cross_entropy(scores, targets, reduction="sum") / counted
