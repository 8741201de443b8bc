import torch.nn.functional as F
from torch import nn


class Blocks(nn.Module):
    def __init__(self, mode="bilinear", reduction="average"):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding="same", padding_mode="circular")
        self.plain = nn.Conv2d(3, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.wide = nn.MaxPool2d(2, padding=2, dilation=4)
        self.mode = mode
        self.loss = nn.MSELoss(reduction="mean" if reduction == "average" else "sum")

    def forward(self, x, y):
        x = F.interpolate(self.plain(self.conv(x)), scale_factor=2, mode=self.mode)
        x = F.pad(F.max_pool2d(x, 3, 2, 1), (1, 1), mode="reflect")
        return self.loss(x, y) + F.kl_div(x, y, reduction="batchmean") + F.mse_loss(x, y, reduction=self.mode)


def pool_sides(x):
    return F.max_pool2d(x, (3, 4), (5, 5), (1, 2))
