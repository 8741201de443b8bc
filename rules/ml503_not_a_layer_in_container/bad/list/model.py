from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(
            [  # expect: ML503
                nn.Linear(width, width),
                *[nn.Linear(width, width) for _ in range(3)],
            ]
        )

    def forward(self, x):
        return self.net(x)
