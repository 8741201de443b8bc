from torch import nn


class Features(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.proj = nn.Linear(width, width)

    def forward(self, features):
        features["pooled"] = self.norm(features["pooled"])
        features["words"] = self.proj(features["words"])
        return features


class Levels(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, levels):
        levels[0] = self.proj(levels[0])
        levels[-1] = self.proj(levels[-1])
        levels[1] += 1
        return levels
