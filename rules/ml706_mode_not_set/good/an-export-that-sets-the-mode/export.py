import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def export(path):
    net = Net()
    net.load_state_dict(torch.load(path))
    torch.onnx.export(net, torch.rand(2, 8), "net.onnx")


def try_out():
    net = Net()
    with torch.no_grad():
        print(net(torch.rand(2, 8)).shape)
