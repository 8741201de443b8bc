_base_ = "./base.py"

steps = _base_.steps
steps.pop(0)
steps[0]["start"] = 2
model = _base_.model
model.levels.append(dict(width=3))
del model.levels[0]
