import torch


def scores(logits):
    return torch.nn.functional.softmax(logits)[:, :, :-1]  # expect: ML505
