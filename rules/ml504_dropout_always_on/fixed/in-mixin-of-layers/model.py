import torch.nn.functional as F
from torch import nn


class Attending:
    def attend(self, scores):
        return F.dropout(scores.softmax(-1), 0.1, training=self.training)  # expect: ML504


class Encoder(Attending, nn.Module):
    def forward(self, x):
        return self.attend(x @ x.transpose(1, 2)) @ x
