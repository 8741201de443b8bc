from mmengine.config import read_base
from nets import Trunk

with read_base():
    from .base import model

model["trunk"] = dict(type=Trunk, depth=8, widht=32)  # expect: ML403
