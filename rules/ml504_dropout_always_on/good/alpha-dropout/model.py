import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def forward(self, x):
        return F.alpha_dropout(x, 0.1)
