from torch import nn


class Backend(nn.Module):
    def __init__(self, model, fuse=True):
        super().__init__()
        stride, names = 32, model.names
        self.__dict__.update(locals())

    def forward(self, x):
        return self.model(x)


def strides(model):
    backend = Backend(model, fuse=False)
    return backend.stride
