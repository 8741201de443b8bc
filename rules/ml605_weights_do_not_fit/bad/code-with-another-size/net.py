import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


from pathlib import Path

HERE = Path(__file__).parent


def state(name):
    return torch.load(HERE / "runs" / name, map_location="cpu")["model"]


def load():
    net = Net()
    net.load_state_dict(state("net.pt"), strict=False)  # expect: ML605
    return net.eval()
