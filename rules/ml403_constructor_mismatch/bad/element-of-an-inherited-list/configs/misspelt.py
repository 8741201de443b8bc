_base_ = './base.py'
model = _base_.model
model.steps[1].depht = 3  # expect: ML403
