import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


@torch.inference_mode()
def validate(net, loader):
    net.eval()  # expect: ML706
    return sum(nn.functional.cross_entropy(net(x), y).item() for x, y in loader)


def fit(loader, held_out):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.train()
    for epoch in range(30):
        for inputs, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), labels).backward()
            optimizer.step()
        print(epoch, validate(net, held_out))
