import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.head = nn.Linear(4096, 10)

    def forward(self, x):
        x = torch.flatten(self.features(x), 1)
        return self.head(x)  # expect: ML501


net = Small()
print(net(torch.randn(1, 3, 32, 32)).shape)
