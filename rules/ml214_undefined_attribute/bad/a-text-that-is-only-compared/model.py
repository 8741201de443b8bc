from torch import nn


class Head(nn.Module):
    def __init__(self, width, last="sigmoid"):
        super().__init__()
        self.last = last
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        x = self.proj(x)
        if self.last == "softmax":
            return self.softmax(x)  # expect: ML214
        return x.sigmoid()
