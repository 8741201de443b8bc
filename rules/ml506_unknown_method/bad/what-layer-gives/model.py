from torch import nn


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)

    def forward(self, x, mask=None):
        weights = self.query(x) @ self.key(x).transpose(-2, -1) * 0.5
        if mask is not None:
            weights = weights.maskfill(mask == 0, float("-inf"))  # expect: ML506
        return weights.softmax(-1)
