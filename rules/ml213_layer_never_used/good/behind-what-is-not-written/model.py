from torch import nn


class Attention(nn.Module):
    def __init__(self, width, relative=False):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.relative = relative
        if relative:
            self.distance = nn.Linear(width, width)

    def forward(self, x):
        if self.relative:
            raise NotImplementedError("relative distances are not written yet")
            x = x + self.distance(x)
        return self.proj(x)
