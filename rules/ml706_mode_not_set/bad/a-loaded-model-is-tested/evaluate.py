import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def accuracy(path, loader):
    model = Net().to("cuda")
    model.load_state_dict(torch.load(path))
    hits = 0
    with torch.no_grad():
        for inputs, labels in loader:
            hits += (model(inputs).argmax(-1) == labels).sum().item()  # expect: ML706
    return hits
