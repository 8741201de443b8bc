import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.hidden = nn.Linear(width, 64)
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return F.softmax(self.head(x), dim=1)


def train(loader, width, classes):
    model = Classifier(width, classes)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)  # expect: ML701
        loss.backward()
        optimizer.step()
