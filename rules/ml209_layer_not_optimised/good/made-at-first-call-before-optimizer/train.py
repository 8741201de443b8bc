import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        self.body = nn.Conv2d(3, 8, 3)
        self.head = None

    def forward(self, images):
        features = self.body(images).flatten(1)
        if self.head is None:
            self.head = nn.Linear(features.shape[1], self.classes).to(images.device)
        return self.head(features)


def train(batches, example):
    model = Classifier(10)
    model(example)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for images, labels in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    return model


class Trainer:
    def __init__(self, classes):
        self.model = Classifier(classes)
        self.optimizer = None

    def step(self, images, labels):
        scores = self.model(images)
        if self.optimizer is None:
            self.optimizer = torch.optim.Adam(self.model.parameters())
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(scores, labels).backward()
        self.optimizer.step()
