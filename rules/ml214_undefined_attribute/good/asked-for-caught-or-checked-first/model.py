from torch import nn


class Small(nn.Module):
    def forward(self, x):
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Small()

    def forward(self, x):
        if hasattr(self.part, "width"):
            x = x * self.part.width
        try:
            x = x * self.part.depth
        except AttributeError:
            pass
        return x


def unwrapped(model):
    return model.module if isinstance(model, nn.DataParallel) else model


print(unwrapped(Small()), unwrapped(nn.DataParallel(Small())))
