from parts import Encoder
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(8, 4)

    def forward(self, x):  # (batch, time, 8)
        return self.head(self.encoder(x))  # expect: ML510
