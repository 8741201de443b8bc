import torch
from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Linear(80, width)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)

    def step(self, x):
        self.optimizer.zero_grad()
        self(x).sum().backward()
        self.optimizer.step()


class Classifier(Base):
    def __init__(self, width, classes):
        super().__init__(width)
        self.head = nn.Linear(width, classes)  # expect: ML209

    def forward(self, x):
        return self.head(self.encoder(x))
