_base_ = ["./base.py"]

model = dict(
    trunk=dict(dept=8),  # expect: ML403
    head=dict(_delete_=True, type="FlatHead", width=64),  # expect: ML403
)
