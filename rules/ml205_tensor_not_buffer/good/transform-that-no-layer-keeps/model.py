import torch
from torch import nn


class Normalize:
    def __init__(self, mean):
        self.mean = torch.tensor(mean)
        self.scale = torch.ones(3)

    def __call__(self, image):
        return (image - self.mean) * self.scale


class Window:
    def __init__(self, size):
        self.window = torch.ones(size)

    def __call__(self, x):
        return x * self.window.to(x.device)


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.window = Window(size)

    def forward(self, x):
        return self.window(x)


def dataset(images):
    normalize = Normalize([0.5, 0.5, 0.5])
    return [normalize(image) for image in images]
