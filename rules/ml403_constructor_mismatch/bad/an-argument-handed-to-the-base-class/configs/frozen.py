_base_ = ["./base.py"]

model = dict(type="Frozen", stages=1, rate=0.2, scale=2.0, stage=3)  # expect: ML403
