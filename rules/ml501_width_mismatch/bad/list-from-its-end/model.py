from torch import nn


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Linear(4, 8), nn.Linear(8, 16)])
        self.up = nn.ModuleList([nn.Linear(8, 4), nn.Linear(16, 9)])

    def forward(self, x):
        for number, layer in enumerate(self.down):
            x = layer(x) if number == 0 else layer(x.relu())
        for layer in self.up[::-1]:
            x = layer(x)  # expect: ML501
        return x
