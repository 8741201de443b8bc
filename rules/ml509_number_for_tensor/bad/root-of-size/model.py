import torch


def attend(q, k, v):
    scale = torch.sqrt(q.size(-1))  # expect: ML509
    return torch.softmax(q @ k / scale, dim=-1) @ v / torch.sqrt(len(v))  # expect: ML509
