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
            others.append(parameter)  # expect: ML209
        else:
            decayed.append(parameter)
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}])
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
