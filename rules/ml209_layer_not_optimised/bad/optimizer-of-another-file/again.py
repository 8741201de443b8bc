import torch
from nets import Net, criterion, optimizer

net = Net()  # expect: ML209


def train(data):
    for x in data:
        optimizer.zero_grad()
        criterion(net(x), x).backward()
        optimizer.step()


train(torch.rand(10, 2, 4))
