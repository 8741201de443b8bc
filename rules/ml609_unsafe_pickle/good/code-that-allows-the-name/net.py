import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


import argparse


def load():
    with torch.serialization.safe_globals([argparse.Namespace]):
        return torch.load("net.pt")["model"]
