import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        table = torch.zeros(4, 4)
        return self.fc(x.half()) @ table, x.bfloat16() @ table


def train():
    net = nn.Linear(4, 4)
    with torch.autocast("cuda", dtype=torch.float16):
        return net(torch.rand(2, 4).half())
