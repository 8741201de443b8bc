import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def attend(self, q, k, v, dropout_p=0.0):
        scores = (q @ k.transpose(-2, -1)).softmax(-1)
        return F.dropout(scores, p=dropout_p) @ v

    def forward(self, q, k, v):
        return self.attend(q, k, v, dropout_p=0.1 if self.training else 0.0)
