from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, channels=256, double=True):
        super().__init__()
        self.final = nn.Sequential(
            nn.Conv2d(width, 2 * channels if double else channels, kernel_size=3, padding=1),
            nn.Conv2d(channels, channels, kernel_size=1),  # expect: ML501
        )

    def forward(self, x):
        return self.final(x)


class Head(nn.Module):
    def __init__(self, width, narrow=True):
        super().__init__()
        self.head = nn.Sequential(
            nn.Linear(width, 128),
            nn.ReLU(),
            nn.Linear(64 if narrow else 128, 10),  # expect: ML501
        )

    def forward(self, x):
        return self.head(x)
