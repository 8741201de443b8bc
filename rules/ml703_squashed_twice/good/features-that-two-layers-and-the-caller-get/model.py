from torch import nn


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(32, 128)
        self.classify = nn.Linear(128, 10)
        self.left, self.right = nn.Linear(128, 16), nn.Linear(128, 16)

    def forward(self, x):
        features = self.embed(x)
        return features, self.classify(features), self.left(features) * self.right(features)


class Probe(nn.Module):
    """A layer of its own on what another model gives."""

    def __init__(self, model: Embedder):
        super().__init__()
        self.model = Embedder()
        self.head = nn.Linear(10, 2)

    def forward(self, x):
        return self.head(self.model(x)[1])
