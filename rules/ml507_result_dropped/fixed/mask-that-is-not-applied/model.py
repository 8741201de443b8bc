import torch


def masked(scores, padding):
    weights = torch.sigmoid(scores)
    weights = weights.masked_fill(padding, 0)  # expect: ML507
    if padding.dim() == 2:
        padding = padding.unsqueeze(1)  # expect: ML507
    return weights, padding
