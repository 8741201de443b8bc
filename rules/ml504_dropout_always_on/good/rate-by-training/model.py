from torch import nn
from torch.nn.functional import dropout


class Attention(nn.Module):
    def __init__(self, dropout_p):
        super().__init__()
        self.dropout_p = dropout_p

    def forward(self, weights, values):
        if not self.training:
            dropout_p = 0.0
        else:
            dropout_p = self.dropout_p
        if dropout_p > 0.0:
            weights = dropout(weights, dropout_p)
        return weights @ values
