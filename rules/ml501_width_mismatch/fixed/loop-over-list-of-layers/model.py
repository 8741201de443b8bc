import torch.nn.functional as F
from torch import nn
from torch.nn.utils import spectral_norm, weight_norm


class Discriminator(nn.Module):
    def __init__(self, is_spectral=False):
        super().__init__()
        norm = spectral_norm if is_spectral else weight_norm
        self.convs = nn.ModuleList(
            [
                norm(nn.Conv1d(1, 32, 5, 3, padding=2)),
                norm(nn.Conv1d(32, 128, 5, 3, padding=2)),
                norm(nn.Conv1d(128, 512, 5, 1, padding=2)),
            ]
        )

    def forward(self, x):
        features = []
        for conv in self.convs:
            x = F.leaky_relu(conv(x), 0.1)  # expect: ML501
            features.append(x)
        return x, features


class Stack(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.proj = nn.Linear(80, 256)
        self.layers = nn.ModuleList([nn.Linear(256, 512) for _ in range(depth)])

    def forward(self, x):
        x = self.proj(x)
        for layer in self.layers:
            x = layer(x).relu()  # expect: ML501
        return x


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(80, 64), nn.ReLU(), nn.Linear(64, 32)])
        self.head = nn.Linear(32, 2)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)  # expect: ML501
