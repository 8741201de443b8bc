import torch
from torch import nn


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
        self.head = nn.Conv2d(8, 2, 1)
        self.freeze()

    def freeze(self):
        for part in self.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.eval()  # expect: ML706

    def forward(self, images):
        return self.head(self.stem(images))


def fit(loader):
    model = Segmenter()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for images, masks in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), masks).backward()
        optimizer.step()
