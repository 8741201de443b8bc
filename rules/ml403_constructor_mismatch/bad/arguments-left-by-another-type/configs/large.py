_base_ = ["./base.py"]

model = dict(
    trunk=dict(type="LinearHead", outputs=64),  # expect: ML403
)
