import torch
from torch import nn

relu = nn.ReLU()
trained = nn.Linear(8, 8)
teacher = nn.Linear(8, 8)
teacher.requires_grad_(False)
shared = nn.Linear(8, 8)
moved = nn.Linear(8, 8).eval()
plain = nn.Linear(8, 8)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 1)
        self.first = shared

    def forward(self, x):
        return self.out(relu(trained(x) + teacher(x) + shared(x) + moved(x)))


def train(batches):
    net = Net()
    optimizer = torch.optim.Adam([*net.parameters(), *trained.parameters()])
    for batch in batches:
        optimizer.zero_grad()
        net(plain(batch)).mean().backward()
        optimizer.step()
