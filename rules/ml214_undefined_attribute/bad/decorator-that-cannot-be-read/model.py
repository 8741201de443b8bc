from registries import MODELS
from torch import nn


@MODELS.register_module()
class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.project = nn.Linear(width, classes)

    def forward(self, x):
        return self.classify(x)  # expect: ML214
