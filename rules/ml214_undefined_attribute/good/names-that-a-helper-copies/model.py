from torch import nn

from tools.copying import copy_settings, fill


class Wrapped(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)[: self.most], self.labels


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x) * self.share


class Narrow(Plain):
    pass


class Detector(nn.Module):
    def __init__(self, labels):
        super().__init__()
        self.labels, self.most = labels, 9
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x)

    def wrapped(self):
        outer = Wrapped(self)
        copy_settings(outer, self, only=("labels", "most"))
        return outer


def build(settings):
    narrow = Narrow()
    fill(narrow, settings)
    return narrow, Detector(["cat"]).wrapped()
