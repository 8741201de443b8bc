import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 3)
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.layer(x)

    def loss(self, x, y):
        return nn.functional.cross_entropy(self(x) * self.weight, y)

    def distance(self, scores, y):
        return nn.functional.cross_entropy(scores, y)


def train(loader, rank, path):
    net = DistributedDataParallel(Net().to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(net.module.parameters(), lr=0.1)
    net.module.load_state_dict(torch.load(path))
    for x, y in loader:
        net.module.train()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x) * net.module.weight, y)
        loss.backward()
        optimizer.step()
    torch.save(net.module.state_dict(), path)
