_base_ = "./base.py"
model = dict(width=64)
