from torch import nn


class Up(nn.Module):
    def __init__(self, width, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2)
        else:
            self.up_conv = nn.ConvTranspose2d(width, width, 2, stride=2)
            self.forward = self.forward_conv

    def forward(self, x):
        return self.up(x)

    def forward_conv(self, x):
        return self.up_conv(x)


class Down(nn.Module):
    def __init__(self, width, is_plain):
        super().__init__()
        self.is_plain = is_plain
        if is_plain:
            self.pool = nn.AvgPool2d(2)
        else:
            self.conv = nn.Conv2d(width, width, 2, stride=2)

    def forward(self, x):
        return self.pool(x) if self.is_plain else self.conv(x)
