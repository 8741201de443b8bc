_base_ = ["./part.py"]

model = dict(trunk=dict(depth=3))
