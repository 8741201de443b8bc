from mmengine.config import read_base

with read_base():
    from .base import modl, width  # expect: ML401

size = width
