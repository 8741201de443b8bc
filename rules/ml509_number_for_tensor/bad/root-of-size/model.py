import torch


def attend(q, k, v):
    scale = torch.sqrt(q.size(-1))  # expect: ML509
    return torch.softmax(q @ k / scale, dim=-1) @ v


def mean(v):
    return v.sum(0) / torch.sqrt(len(v))  # expect: ML509
