from pathlib import Path

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


HERE = Path(__file__).resolve().parents[0]
NAME = "net"


def load(device):
    net = Net().to(device).eval()
    net.load_state_dict(torch.load(HERE.joinpath(f"{NAME}.pt"), map_location=device))  # expect: ML605
    with open("%s.pt" % NAME, "rb") as file:
        net.load_state_dict(torch.load(file))  # expect: ML605
    return net
