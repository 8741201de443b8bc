from torch import nn

from registry import MODELS


@MODELS.register_module()
class Block(nn.Module):
    def __init__(self, ratio=0.5):
        super().__init__()
        self.ratio = ratio


@MODELS.register_module()
class Neck(nn.Module):
    def __init__(self, width, block):
        super().__init__()
        self.width = width
        self.block = MODELS.build(block)


@MODELS.register_module()
class Branch(nn.Module):
    def __init__(self, width, outputs):
        super().__init__()
        self.out = nn.Linear(width, outputs)

    def forward(self, x):
        return self.out(x)


@MODELS.register_module()
class Head(nn.Module):
    def __init__(self, branch, weight=1.0):
        super().__init__()
        self.branch = MODELS.build(branch)
        self.weight = weight

    def forward(self, x):
        return self.branch(x) * self.weight


@MODELS.register_module()
class Net(nn.Module):
    def __init__(self, neck, head):
        super().__init__()
        self.neck = MODELS.build(neck)
        self.head = MODELS.build(head)

    def forward(self, x):
        return self.head(x)
