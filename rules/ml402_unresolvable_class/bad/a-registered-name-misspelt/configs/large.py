_base_ = ["./base.py"]

model = dict(
    trunk=dict(_delete_=True, type="Trnuk", depth=8),  # expect: ML402
    head=dict(type="LinearHaed"),  # expect: ML402
)
