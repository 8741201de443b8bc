from torch import nn

from util import build


class Coder(nn.Module):
    def __init__(self, width, lossconfig):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.loss = build(lossconfig)
