import torch
from blocks import double
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = double(1, 16)
        self.middle = double(16, 32)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.out = nn.Conv2d(32, 1, 1)

    def forward(self, x):
        left = self.down(x)
        right = self.up(self.middle(self.pool(left)))
        return self.out(torch.cat([left, right], dim=1))  # expect: ML520


if __name__ == "__main__":
    print(Net()(torch.randn(1, 1, 64, 64)).shape)
