from torch import nn


class Plain(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)


class Wrapper(nn.Module):
    def __init__(self, net, width, rate):
        super().__init__()
        self.net = net if net is not None else nn.Linear(width, width)
        self.rate = rate
