import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def fit(loader, held_out):
    net = nn.DataParallel(Net())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(30):
        net.train()
        for step, (inputs, labels) in enumerate(loader):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), labels).backward()
            optimizer.step()
            if step % 100 == 0:
                net.eval()  # expect: ML706
                with torch.no_grad():
                    print(sum(nn.functional.cross_entropy(net(x), y).item() for x, y in held_out))
