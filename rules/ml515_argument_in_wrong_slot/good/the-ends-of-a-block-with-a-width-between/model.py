from torch import nn


class Block(nn.Module):
    def __init__(self, in_features, hidden_features=None, out_features=None):
        super().__init__()
        hidden = hidden_features or in_features
        self.first = nn.Linear(in_features, hidden)
        self.second = nn.Linear(hidden, out_features or in_features)

    def forward(self, x):
        return self.second(self.first(x))


def build(in_features: int, out_features: int) -> nn.Module:
    return Block(in_features, out_features)
