from torch import nn


class Pair(nn.Module):
    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.encoder = nn.Linear(in_features, out_features)
        self.decoder = nn.Linear(out_features, in_features)

    def forward(self, x):
        return self.decoder(self.encoder(x))
