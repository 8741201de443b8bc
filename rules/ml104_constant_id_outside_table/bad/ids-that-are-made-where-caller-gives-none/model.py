import torch
from torch import nn


class Segments(nn.Module):
    def __init__(self, n_segments, width):
        super().__init__()
        self.n_segments = n_segments
        self.embed = nn.Embedding(n_segments, width)  # expect: ML104

    def forward(self, ids, segments=None):
        if segments is None:
            segments = torch.full_like(ids, self.n_segments)
        return self.embed(segments)
