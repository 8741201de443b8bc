import torch
from torch import nn


class Normalize:
    def __init__(self, mean):
        self.mean = torch.tensor([mean, mean, mean])

    def __call__(self, image):
        return image - self.mean


class Images(torch.utils.data.Dataset):
    def __init__(self, images):
        self.images = images
        self.normalize = Normalize(0.5)

    def __getitem__(self, index):
        return self.normalize(self.images[index])


class Window:
    def __init__(self, size):
        self.window = torch.hann_window(size)

    def apply(self, x):
        return x * self.window.to(x.device)


class Hits:
    def __init__(self, classes):
        self.hits = torch.zeros(classes)

    def update(self, output, target):
        self.hits += (output == target).float().sum(0).cpu()


def evaluate(model, batches, device):
    model.to(device)
    metric, window = Hits(10), Window(400)
    for x, y in batches:
        metric.update(model(window.apply(x.to(device))), y.to(device))
    return metric.hits
