from torch import nn

from base import Encoding


class Encoder(Encoding):
    def __init__(self, width):
        super().__init__()
        self.positions = nn.Embedding(512, width)  # expect: ML303
