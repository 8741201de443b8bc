_base_ = "./moved.py"

model = dict(levels=[dict(width=7)])
steps = [_base_.steps[0]]
