from torch import nn


class Up(nn.Module):
    def __init__(self, width, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2)
        else:
            self.up_conv = nn.ConvTranspose2d(width, width, 2, stride=2)

    def forward(self, x):
        return self.up(x)  # expect: ML214
