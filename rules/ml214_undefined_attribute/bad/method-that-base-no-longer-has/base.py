from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.proj = nn.Linear(width, width)

    def scale(self, x):
        return x / self.width
