from torch import nn


class Encoder(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.positions = nn.Embedding(longest, width)

    def forward(self, pos, mask=None):
        if mask is not None:
            pos = pos.masked_fill(mask == 0, 0)  # expect: ML304
        return self.positions(pos)
