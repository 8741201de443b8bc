from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, return_attention=False):
        hidden = self.proj(x)
        scores = hidden @ hidden.transpose(1, 2)
        if return_attention:
            return hidden, scores.softmax(-1), scores
        return hidden, scores
