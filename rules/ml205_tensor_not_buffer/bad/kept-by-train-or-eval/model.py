import torch
from torch import nn


class Biased(nn.Module):
    def __init__(self, heads, length):
        super().__init__()
        self.biases = nn.Parameter(torch.zeros(heads, length))
        self.register_buffer("places", torch.arange(length).flip(0), persistent=False)

    def train(self, mode=True):
        super().train(mode)
        if not mode:
            self.picked = self.biases[:, self.places]  # expect: ML205
        return self

    def forward(self, x):
        return x + (self.biases[:, self.places] if self.training else self.picked)


class Mixed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(width, width))
        self.mixture = None

    def eval(self):
        super().eval()
        self.mixture = self.logits.softmax(-1)  # expect: ML205
        return self

    def forward(self, x):
        mixture = self.logits.softmax(-1) if self.training else self.mixture
        return x @ mixture
