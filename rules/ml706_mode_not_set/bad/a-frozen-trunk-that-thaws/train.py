import torch

from model import Classifier


def fit(loader):
    model = Classifier(5)
    optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
    for images, labels in loader:
        model.train()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
