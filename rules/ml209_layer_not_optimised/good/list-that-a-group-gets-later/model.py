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
    decayed, others = [], []
    for name, parameter in net.named_parameters():
        if name.endswith("bias"):
            others.append(parameter)
        else:
            decayed.append(parameter)
    groups = [{"params": decayed, "weight_decay": 0.1}]
    groups.append({"params": others})
    optimizer = torch.optim.AdamW(groups)
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def fit_without_biases():
    net = Net()
    trained, frozen = [], []
    for name, parameter in net.named_parameters():
        if name.endswith("bias"):
            parameter.requires_grad = False
            frozen.append(parameter)
        else:
            trained.append(parameter)
    optimizer = torch.optim.AdamW(trained)
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
