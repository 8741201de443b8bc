from mmengine.config import read_base

with read_base():
    from .bases import *  # expect: ML409
