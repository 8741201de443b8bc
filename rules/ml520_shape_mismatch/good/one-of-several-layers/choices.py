import torch
from torch import nn


class Projection(nn.Module):
    def __init__(self, kind, dims=2, norm_layer=nn.BatchNorm2d):
        super().__init__()
        if kind == "mean":
            self.reduce = nn.Linear(32, 8)
        else:
            self.reduce = nn.Identity()
        name = "Conv" + str(dims) + "d"
        self.conv = getattr(nn, name)(8, 8, 1)
        self.norm = norm_layer(8)
        self.heads = nn.ModuleList([nn.Linear(32, 4), nn.Linear(32, 6)])

    def forward(self, x, task):
        y = self.norm(self.conv(x))
        return y, self.heads[task](torch.zeros(3, 32)) + torch.zeros(3, 6)

    def reduced(self):
        return self.reduce(torch.zeros(5, 32)) + torch.zeros(5, 8)


def tables(is_wide):
    table = torch.zeros(4, 16) if is_wide else torch.zeros(4, 8)
    if is_wide:
        return table + torch.zeros(16)
    return table + torch.zeros(8)


def projected(is_image):
    layer = nn.Conv2d(3, 9, 1) if is_image else nn.Linear(9, 3)
    return layer(torch.zeros(2, 3, 9, 9)) if is_image else layer(torch.zeros(3, 9))
