from torch import nn

from encoder import Encoder


class Model(nn.Module):
    def __init__(self, width, with_scores):
        super().__init__()
        self.encoder = Encoder(width)
        self.with_scores = with_scores

    def forward(self, x, return_attention):
        hidden, attention, scores = self.encoder(x, True)
        hidden, scores = self.encoder(hidden)
        hidden, *rest = self.encoder(hidden, return_attention)
        hidden, scores = self.encoder(hidden, return_attention)
        first, second, third = self.encoder(hidden, return_attention)
        return hidden
