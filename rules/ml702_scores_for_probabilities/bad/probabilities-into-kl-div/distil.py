import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


def distil(student: Net, teacher: Net, x):
    wanted = teacher(x).softmax(1).detach()
    return F.kl_div(F.softmax(student(x), dim=1), wanted, reduction="batchmean")  # expect: ML702
