import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, x):
        return self.second(self.first(x).relu())


def fit():
    net = Net()
    named = net.named_parameters()
    decayed = [p for name, p in named if name.endswith("weight")]
    others = [p for name, p in named if not name.endswith("weight")]  # expect: ML209
    optimizer = torch.optim.AdamW([{"params": decayed}, {"params": others, "weight_decay": 0.0}])
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def count_and_fit():
    net = Net()
    trained = filter(lambda p: p.requires_grad, net.parameters())
    print(sum(p.numel() for p in trained))
    optimizer = torch.optim.SGD(trained, lr=0.1)  # expect: ML209
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def fill_and_fit():
    net = Net()
    weights = net.parameters()
    for weight in weights:
        nn.init.normal_(weight)
    optimizer = torch.optim.SGD(weights, lr=0.1)  # expect: ML209
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
