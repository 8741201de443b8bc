from torch import nn


class Transport(nn.Module):
    def __init__(self, width):
        raise NotImplementedError("not supported yet")
        super().__init__()
        self.sampler = width

    def forward(self, x):
        return self.sampler(x)
