from mmengine.registry import MODELS
from torch import nn

@MODELS.register_module()
class Layer(nn.Module):
    def __init__(self, width, depth=1):
        super().__init__()
        self.fc = nn.Linear(width, depth)

@MODELS.register_module()
class Net(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = nn.ModuleList([MODELS.build(one) for one in steps])
