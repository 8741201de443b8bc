import torch


def masked(scores, mask):
    weights = torch.sigmoid(scores)
    weights = weights.masked_fill(mask, 0)  # expect: ML507
    if mask.dim() == 2:
        mask = mask.unsqueeze(1)  # expect: ML507
    return weights, mask
