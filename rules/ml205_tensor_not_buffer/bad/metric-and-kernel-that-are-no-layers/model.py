import torch
from torch import nn


class Hits:
    def __init__(self, classes):
        self.hits = torch.zeros(classes)  # expect: ML205

    def update(self, output, target):
        self.hits += nn.functional.one_hot(target, 10)[output.argmax(1) == target].sum(0)

    def compute(self):
        return self.hits


def evaluate(model, batches, device):
    model.to(device)
    metric = Hits(10)
    for x, y in batches:
        metric.update(model(x.to(device)), y.to(device))
    return metric.compute()


class Gaussian:
    def __init__(self, centers):
        self.centers = torch.linspace(0, 1, centers)  # expect: ML205

    def __call__(self, distances):
        return torch.exp(-((distances.unsqueeze(-1) - self.centers) ** 2))


class Interaction(nn.Module):
    def __init__(self, centers, kernel):
        super().__init__()
        self.kernel = kernel
        self.lin = nn.Linear(centers, centers)

    def forward(self, distances):
        return self.lin(self.kernel(distances))


def build():
    return Interaction(16, Gaussian(16)).to("cuda")
