import torch.nn.functional as F
from torch import nn


class Masked(nn.Module):
    def corrupt(self, x):
        return F.dropout(x, 0.3)

    def forward(self, x):
        # Monte Carlo dropout: also in evaluation
        x = F.dropout(x, 0.1)
        return self.corrupt(x)
