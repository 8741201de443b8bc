from mmcv.runner import BaseModule
from torch import nn

from registry import MODELS


class Base(BaseModule):
    def __init__(self, width, init_cfg=None):
        super().__init__(init_cfg)
        self.out = nn.Linear(width, 2)


@MODELS.register_module()
class Head(Base):
    def __init__(self, depth=2, *args, **kwargs):
        super(Head, self).__init__(*args, **kwargs)
        self.depth = depth

    def forward(self, x):
        return self.out(x)
