import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def forward(self, x, options):
        x = F.dropout(x, 0.1, self.training)
        x = F.dropout(x, 0.1, training=self.training)
        x = F.dropout(x, **options)
        if self.training:
            x = F.dropout(x, 0.1)
        rate = 0.1 if self.training else 0.0
        if rate > 0:
            x = F.dropout(x, rate)
        if not self.training:
            return x
        return F.dropout(x, 0.5)
