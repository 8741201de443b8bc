from torch import nn


class Block(nn.Module):
    def __init__(self, width, init_method):
        super().__init__()
        self.proj = nn.Linear(width, width, bias=False)  # expect: ML502
        init_method(self.proj.weight)


class Wide(Block):
    def __init__(self, width):
        super().__init__(2 * width)  # expect: ML502


class Narrow(Block):
    def __init__(self, width):
        super(Narrow, self).__init__(width // 2, nn.init.xavier_uniform_, width)  # expect: ML502


class Plain(Block):
    pass


def plain():
    return Plain(3)  # expect: ML502
