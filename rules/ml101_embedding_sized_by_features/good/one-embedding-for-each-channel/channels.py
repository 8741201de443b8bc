import torch
from torch import nn


class ChannelEncoder(nn.Module):
    def __init__(self, in_channels, width):
        super().__init__()
        self.in_channels = in_channels
        self.channel_embed = nn.Embedding(in_channels, in_channels)
        self.conv = nn.Conv1d(in_channels, width, 3)
        self.norm = nn.LayerNorm(in_channels)

    def forward(self, x):
        """x: (batch, time, in_channels)"""
        channels = torch.arange(self.in_channels, device=x.device)
        return self.conv(self.norm(x + self.channel_embed(channels)).transpose(1, 2))
