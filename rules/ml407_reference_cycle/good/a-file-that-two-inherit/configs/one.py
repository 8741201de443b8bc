_base_ = ['./base.py']
size = 1
