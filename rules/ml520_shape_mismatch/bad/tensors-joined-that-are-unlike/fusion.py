import torch
from features import Frames
from torch import nn


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.audio = Frames(192)
        self.video = Frames(256)
        self.dropout = nn.Dropout(0.1)

    def forward(self, audio, video):
        audio, video = self.dropout(audio), self.dropout(video)
        return torch.cat([self.audio(audio), self.video(video)], dim=1)  # expect: ML520


def pile():
    first, second = torch.randn(3, 32, 32), torch.randn(1, 32, 32)
    return torch.stack((first, second))  # expect: ML520


def with_token():
    tokens = torch.randn(8, 49, 96)
    token = torch.zeros(8, 96)
    return torch.cat((token, tokens), 1)  # expect: ML520
