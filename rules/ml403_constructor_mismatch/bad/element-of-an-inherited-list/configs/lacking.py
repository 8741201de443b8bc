_base_ = './base.py'
model = _base_.model
model.steps[-1] = dict(type='Layer', depth=3)  # expect: ML403
