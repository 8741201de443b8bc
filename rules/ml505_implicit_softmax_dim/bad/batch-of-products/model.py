import torch
from torch.nn.functional import log_softmax


def attend(q, k, v):
    weights = log_softmax(torch.bmm(q, k))  # expect: ML505
    return torch.bmm(weights.exp(), v)
