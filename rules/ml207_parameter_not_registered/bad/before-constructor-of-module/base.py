from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
