from mmengine.config import read_base

with read_base():
    from .base import *

other = dict(type=Linear, in_features=2, out_features=2)
