import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, names):
        super().__init__()
        for name in names:
            setattr(self, name, nn.Linear(2, 2))


def load():
    net = Net(["a", "b"])
    net.load_state_dict(torch.load("net.pt"))
    return net
