root = "."
_base_ = ["../large.py"]
