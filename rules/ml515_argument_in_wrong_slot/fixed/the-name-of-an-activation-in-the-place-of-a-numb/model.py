import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    def __init__(self, width, dropout=0.1, activation="relu"):
        super().__init__()
        self.keep = 1 - dropout
        self.line = nn.Linear(width, width)
        self.activation = F.relu if activation == "relu" else F.sigmoid

    def forward(self, x):
        return self.activation(self.line(x)) * self.keep


class Net(Base):
    def __init__(self, width: int = 4, activation: str = "tanh"):
        super().__init__(width, activation=activation)  # expect: ML515
