import torch
from torch import nn


class Renderer(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.widen = nn.Linear(24, 96)
        self.paint = nn.Linear(96, 64)
        self.tail = nn.Sequential(nn.Linear(width, width), nn.Dropout(0.1), nn.Linear(width, 3))  # expect: ML703

    def forward(self, codes, rest):
        hidden = self.widen(codes)
        return torch.relu(self.paint(hidden)), self.tail(rest)  # expect: ML703
