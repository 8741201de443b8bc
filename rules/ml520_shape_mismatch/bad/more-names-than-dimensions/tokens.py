import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Conv2d(3, 96, 4, stride=4)
        self.norm = nn.LayerNorm(96)

    def forward(self, images):
        tokens = self.norm(self.embed(images).flatten(2).transpose(1, 2))
        b, c, h, w = tokens.shape  # expect: ML520
        return tokens.reshape(b, h, w, c)


def first_pixel():
    mask = torch.ones(64, 64)
    return mask[0, 0, 0]  # expect: ML520


def last_step():
    states = torch.randn(9, 32)
    return states[:, -1, :]  # expect: ML520
