_base_ = "./first.py"

model = dict(
    neck=dict(width=8, block=dict(_delete_=True, type="Block", ratio=0.25)),
    head=dict(type="Head", weight=0.5, branch=dict(width=16)),
)
