from torch import nn


class Up(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.conv = nn.ConvTranspose2d(inside, outside, 4, 2, 1)

    def forward(self, x):
        return self.conv(x)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Up(512, 512), Up(512, 128), Up(128, 64)]
        self.layers = nn.ModuleList(self.layers)
        self.by_name = nn.ModuleDict({"wide": nn.Linear(8, 16), "narrow": nn.Linear(8, 4)})
        self.last = nn.Conv2d(64, 3, 1)
        self.head = nn.Linear(4, 2)

    def forward(self, x, kind):
        for layer in self.layers[:-1]:
            x = layer(x)
        x = self.last(self.layers[-1](x))
        return self.head(self.by_name[kind](x))
