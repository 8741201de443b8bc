import torch.nn.functional as F


def attend(q, k):
    weights = q @ k.transpose(-2, -1)
    weights = F.softmax(weights)  # (B, T, T)  # expect: ML505
    return weights
