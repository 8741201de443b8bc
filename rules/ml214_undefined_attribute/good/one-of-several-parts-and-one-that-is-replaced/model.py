from torch import nn


class Small(nn.Module):
    def forward(self, x):
        return x


class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = 9

    def forward(self, x):
        return x * self.width


class Model(nn.Module):
    def __init__(self, is_large, part=None):
        super().__init__()
        self.part = Large() if is_large else Small()
        self.other = part or Small()
        self.first = Small()
        self.second = Small()

    def forward(self, x):
        return self.part.width + self.other.width + self.first.width + self.second.width + x


class Derived(Model):
    def __init__(self):
        super().__init__(True)
        self.first = Large()


def build():
    model = Model(True)
    model.second = Large()
    return model
