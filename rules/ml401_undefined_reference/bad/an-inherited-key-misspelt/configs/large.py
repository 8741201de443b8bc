_base_ = ["./base.py"]

size = _base_.widht * 2  # expect: ML401
model = dict(
    trunk=dict(depth=_base_.model.trunk.depht),  # expect: ML401
    head=dict(outputs={{_base_.output}}),  # expect: ML401
)
