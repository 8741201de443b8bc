import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 1)

    def forward(self, x):
        return self.layer(x)

    def energy(self, x):
        return self.layer(x).pow(2).mean()


class Trainer:
    def __init__(self):
        self.net = FullyShardedDataParallel(Net().cuda())
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, x):
        self.optimizer.zero_grad()
        energy = self.net.module.energy(x)  # expect: ML208
        energy.backward()
        self.optimizer.step()
