_base_ = ['./one.py']
size = _base_.size + 1
