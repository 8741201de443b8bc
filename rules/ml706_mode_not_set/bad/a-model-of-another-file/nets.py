from torch import nn


def block(width):
    layers = [nn.Linear(width, width)]
    layers.append(nn.ReLU())
    layers.append(nn.Dropout(0.3))
    return nn.Sequential(*layers)


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.blocks = nn.Sequential(block(width), block(width))

    def forward(self, x):
        return self.blocks(x)
