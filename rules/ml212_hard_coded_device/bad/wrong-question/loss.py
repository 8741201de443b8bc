import torch
from torch import nn


class Focal(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.head = nn.Linear(classes, classes)

    def forward(self, x, y):
        if torch.cuda.is_available():
            y = y.cuda()  # expect: ML212
        return self.head(x) - y

    def sample(self, x, t):
        if x.is_cuda and t is not None:
            t = t.to("cuda")  # expect: ML212
        return self.head(x) * t
