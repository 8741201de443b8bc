import torch
from torch import nn


def collate(samples):
    if len(samples) == 0:
        return torch.Tensor()
    result = torch.zeros(len(samples), 8, device=samples[0].device)
    for number, sample in enumerate(samples):
        result[number, : len(sample)] = sample
    return result


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)

    def forward(self, x, samples):
        mask = collate(samples)
        scores = self.query(x).sum(-1)
        return scores.masked_fill(mask == False, -1e9)  # noqa: E712
