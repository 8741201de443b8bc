from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(8, 8),
            nn.GRU(8, 8, batch_first=True),
            nn.Linear(8, 4),  # expect: ML510
        )

    def forward(self, x):
        return self.net(x)
