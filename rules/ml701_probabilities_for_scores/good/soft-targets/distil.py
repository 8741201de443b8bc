import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(x)


def distil(student: Net, teacher: Net, x):
    return F.cross_entropy(student(x), teacher(x).softmax(1))
