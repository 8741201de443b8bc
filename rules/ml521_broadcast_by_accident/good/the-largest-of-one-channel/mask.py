import torch
from torch import nn


class Mask(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = nn.Conv2d(16, 1, 1)
        self.score = nn.Linear(16, 1)

    def forward(self, x):
        mask = self.mask(x)
        largest = mask.max(dim=1, keepdim=True)[0] + torch.max(mask, 1, keepdim=True).values
        least, _ = torch.min(mask, dim=1, keepdim=True)
        return largest - least

    def best(self, x):
        values, ids = self.score(x.view(-1, 16)).max(dim=0)
        return values, ids, self.score(x).max(), torch.max(self.score(x), torch.zeros(1))
