from torch import nn

from registry import MODELS


@MODELS.register_module()
class Tagger(nn.Module):
    def __init__(self, width, head=None):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.head = MODELS.build(head)

    def forward(self, x):
        return self.head(self.layer(x))


@MODELS.register_module()
class Head(nn.Linear):
    pass
