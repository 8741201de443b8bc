_base_ = "./base.py"
model = dict(hidden=128)
