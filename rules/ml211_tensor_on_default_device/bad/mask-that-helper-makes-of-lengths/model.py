import torch
from torch import nn


def mask_of(lengths, longest):
    return torch.arange(longest)[None, :] < lengths[:, None]  # expect: ML211


class Pooling(nn.Module):
    def forward(self, x, lengths):
        mask = mask_of(lengths, x.size(1))
        return x.masked_fill(~mask[:, :, None], 0).sum(1)
