from torch import nn


class Encoder(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.convs = nn.ModuleList()
        self.norms = nn.ModuleList()
        for _ in range(depth):
            self.convs += [nn.Conv1d(width, width, 3)]
            self.norms = self.norms + [nn.LayerNorm(width)]

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms):
            x = norm(conv(x))
        return x
