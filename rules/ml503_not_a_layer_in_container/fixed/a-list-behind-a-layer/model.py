from torch import nn


class Tail(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        tail = [nn.Linear(width, width) for _ in range(depth)]
        self.net = nn.Sequential(nn.ReLU(), *tail)  # expect: ML503

    def forward(self, x):
        return self.net(x)
