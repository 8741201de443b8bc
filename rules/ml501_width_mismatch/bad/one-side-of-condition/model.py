from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, channels=256, double=True):
        super().__init__()
        self.final = nn.Sequential(
            nn.GroupNorm(32, 64),
            nn.SiLU(),
            nn.Conv2d(width, 2 * channels if double else channels, kernel_size=3, padding=1),
            nn.Conv2d(channels, channels, kernel_size=1),  # expect: ML501
        )
        self.head = nn.Sequential(
            nn.Linear(width, 128),
            nn.ReLU(),
            nn.Linear(64 if double else 128, 10),  # expect: ML501
        )

    def forward(self, x):
        return self.head(self.final(x).mean((2, 3)))
