import torch
from torch import nn


class Vision(nn.Module):
    def __init__(self, image=224, patch=16, width=64, has_token=True):
        super().__init__()
        self.conv = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width)) if has_token else None
        count = (image // patch) ** 2
        self.positions = nn.Parameter(torch.zeros(1, count + 1 if has_token else count, width))

    def forward(self, image):
        x = self.conv(image).flatten(2).transpose(1, 2)
        if self.token is not None:
            x = torch.cat((self.token.expand(len(x), -1, -1), x), dim=1)
        return x + self.positions


class Fitted(nn.Module):
    def __init__(self, image=224, patch=16, width=64):
        super().__init__()
        self.conv = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, (image // patch) ** 2, width))

    def forward(self, image):
        x = self.conv(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(len(x), -1, -1), x), dim=1)
        if x.shape[1] == self.positions.shape[1]:
            x = x + self.positions
        else:
            x = x + torch.cat((torch.zeros_like(self.token), self.positions), dim=1)
        return x
