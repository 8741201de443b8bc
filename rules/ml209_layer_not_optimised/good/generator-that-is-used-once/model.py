import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, x):
        return self.second(self.first(x).relu())


def fit(is_plain):
    net = Net()
    named = list(net.named_parameters())
    decayed = [p for name, p in named if name.endswith("weight")]
    others = [p for name, p in named if not name.endswith("weight")]
    optimizer = torch.optim.AdamW([{"params": decayed}, {"params": others, "weight_decay": 0.0}])
    weights = net.parameters()
    if is_plain:
        optimizer = torch.optim.SGD([p for p in weights if p.ndim > 1], lr=0.1)
    else:
        optimizer = torch.optim.SGD(weights, lr=0.1)
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()


def fit_after_a_look():
    net = Net()
    print(next(net.parameters()).device, sum(p.numel() for p in net.parameters()))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.rand(10, 2, 4):
        optimizer.zero_grad()
        net(x).mean().backward()
        optimizer.step()
