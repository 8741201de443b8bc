_base_ = ["./base.py"]
model = dict(trunk=dict(depth=8))
