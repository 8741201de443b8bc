import torch


def scores(logits):
    return torch.nn.functional.softmax(logits, dim=-1)[:, :, :-1]  # expect: ML505
