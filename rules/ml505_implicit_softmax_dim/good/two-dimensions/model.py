import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = x.view(-1, 320)
        return F.log_softmax(self.head(x))
