from torch import nn


class Up(nn.Module):
    def __init__(self, width, smooth=True):
        super().__init__()
        if smooth:
            self.up = nn.Upsample(scale_factor=2)
        else:
            self.up = nn.ConvTranspose2d(width, width // 2, 2, stride=2)
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return self.conv(self.up(x))  # expect: ML501


class Decoder(nn.Module):
    def __init__(self, learnt):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3)
        if learnt:
            self.up = nn.ConvTranspose2d(64, 32, 2, stride=2)
        else:
            self.up = nn.Upsample(scale_factor=2)
        self.conv = nn.Conv2d(32, 16, 3)

    def forward(self, x):
        x = self.up(self.stem(x))
        return self.conv(x)  # expect: ML501
