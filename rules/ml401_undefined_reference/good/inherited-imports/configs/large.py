from mmengine.config import read_base

with read_base():
    from .base import Linear, model
    from .middle import *

loss = dict(type=nn.MSELoss)
more = dict(type=Linear, in_features=3, out_features=2)
