from torch import nn

from registry import MODELS


@MODELS.register_module()
class Head(nn.Linear):
    pass


@MODELS.register_module()
class Net(nn.Module):
    def __init__(self, depth, head, width=64):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.head = MODELS.build(head)
