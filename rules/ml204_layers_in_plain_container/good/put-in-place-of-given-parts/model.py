from torch import nn


def replace(root, path, layer):
    *parents, name = path.split(".")
    for parent in parents:
        root = getattr(root, parent)
    setattr(root, name, layer)


class Wrapped(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
        self.scale = nn.LayerNorm(4)

    def forward(self, x):
        return self.scale(self.inner(x))


class Adapter(nn.Module):
    def __init__(self, net, paths):
        super().__init__()
        self.net = net
        self.wrappers = {}
        for path in paths:
            wrapper = Wrapped(net.get_submodule(path))
            replace(net, path, wrapper)
            self.wrappers[path] = wrapper

    def forward(self, x):
        for wrapper in self.wrappers.values():
            wrapper.scale.bias.zero_()
        return self.net(x)
