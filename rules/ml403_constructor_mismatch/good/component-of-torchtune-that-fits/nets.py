from torch import nn


class Net(nn.Module):
    def __init__(self, width, depth, dropout=0.0):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.dropout = nn.Dropout(dropout)
