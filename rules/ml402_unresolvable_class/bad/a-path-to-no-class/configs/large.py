from mmengine.config import read_base
from nets import Tunk

with read_base():
    from .base import *

model.update(trunk=dict(type=Tunk, depth=8))  # expect: ML402
