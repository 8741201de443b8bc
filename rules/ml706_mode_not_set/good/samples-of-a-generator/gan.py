import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))

    def forward(self, noise):
        return self.layers(noise)


def fit(judge: nn.Module, batches, show):
    generator = Generator()
    fixed = torch.randn(16, 4)
    optimizer = torch.optim.Adam(generator.parameters())
    for epoch in range(10):
        for batch in batches:
            optimizer.zero_grad()
            judge(generator(torch.randn(len(batch), 4))).mean().backward()
            optimizer.step()
        with torch.no_grad():
            show(generator(fixed).cpu())
