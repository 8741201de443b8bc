from torch import nn

from registry import MODELS


@MODELS.register_module()
class Trunk(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))


@MODELS.register_module()
class Net(nn.Module):
    def __init__(self, trunk, outputs):
        super().__init__()
        self.trunk = MODELS.build(trunk)
        self.outputs = outputs
