from torch import nn

from encoder import Encoder


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = Encoder(width)
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        features, attention = self.encoder(x, return_attention=True)  # expect: ML508
        return self.head(features), attention

    def features(self, x):
        features, attention, scores = self.encoder(x)  # expect: ML508
        return features


class Wrapped(Model):
    def forward(self, x):
        logits, attention, scores = super().forward(x)  # expect: ML508
        return logits

    def transform(self, x):
        logits, attention = self(x)
        return logits
