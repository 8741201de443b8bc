import torch.nn.functional as F
from torch import nn


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 6, 5)
        self.second = nn.Conv2d(6, 16, 5)
        self.pool = nn.AdaptiveMaxPool2d((5, 5))
        self.hidden = nn.Linear(400, 120)
        self.out = nn.Linear(120, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        x = self.pool(F.relu(self.second(x)))
        x = x.view(x.size(0), -1)
        x = F.relu(self.hidden(x))  # expect: ML501
        return self.out(x)
