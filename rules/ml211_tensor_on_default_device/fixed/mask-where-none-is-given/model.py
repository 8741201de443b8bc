import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, scores, mask=None):
        if mask is None:
            mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()  # expect: ML211
        return scores.masked_fill(~mask, -1e9).softmax(-1)
