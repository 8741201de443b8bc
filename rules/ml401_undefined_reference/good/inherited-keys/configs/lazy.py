from mmengine.config import read_base

with read_base():
    from .base import *
    from .runtime import log as logging

model.update(dict(trunk=dict(type="Trunk", depth=outputs)))
