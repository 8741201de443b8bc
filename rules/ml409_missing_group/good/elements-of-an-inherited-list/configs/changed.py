_base_ = "./base.py"

custom_imports = _base_.custom_imports
custom_imports.imports.extend(["pkg.heads"])
steps = _base_.steps
steps[0].start = 1
steps[-1] = dict(type="Linear", start=9)
model = _base_.model
model.levels[0].update(width=4)
