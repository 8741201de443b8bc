import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, dropout):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.dropout = dropout

    def forward(self, x):
        return F.dropout(self.proj(x), p=self.dropout, training=self.training)  # expect: ML504
