import torch
from torch import nn


class PitchEmbedding(nn.Module):
    def __init__(self, pitch_dim, width):
        super().__init__()
        self.pitch_dim = pitch_dim
        self.embed = nn.Embedding(pitch_dim, width)
        self.smooth = nn.Linear(pitch_dim, width)
        self.register_buffer("edges", torch.linspace(0, 1, pitch_dim - 1))

    def forward(self, pitch, spectrum):
        """pitch: (batch, time), spectrum: (batch, time, pitch_dim)"""
        return self.embed(torch.bucketize(pitch, self.edges)) + self.smooth(spectrum)
