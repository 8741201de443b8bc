import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 4)
        self.encoder = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)  # expect: ML209
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        return self.head(self.norm(self.encoder(self.embed(x).relu())))


def fit():
    net = Net()
    optimizer = torch.optim.Adam([*net.embed.parameters(), *net.encoder.parameters()])
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
