import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8 * 26 * 26, 10)
        self.act = nn.Softmax(dim=1)

    def forward(self, x):
        x = F.relu(self.conv(x)).flatten(1)
        return self.act(self.fc(x))
