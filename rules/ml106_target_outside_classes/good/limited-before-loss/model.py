import torch.nn.functional as F


def loss(scores, labels, mask):
    targets = labels.masked_fill(mask, -1)
    losses = F.cross_entropy(scores, targets.clamp(min=0), reduction="none")
    return (losses * (targets >= 0)).sum()
