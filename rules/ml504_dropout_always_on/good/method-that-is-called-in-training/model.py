import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def forward(self, x):
        if self.training:
            x = self._dropped(x)
        return x

    def _dropped(self, x):
        return F.dropout(x, 0.1)


class Sampler(nn.Module):
    def forward(self, x):
        # Monte Carlo dropout: also in evaluation
        # (see the paper)

        return F.dropout(x, 0.1)
