import torch.nn.functional as F
from torch import nn


class Split(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.heads = heads

    def forward(self, x):
        x = x.view(x.size(0), self.heads, -1)
        return F.softmax(x / 2)  # expect: ML505
