_base_ = ["./data.py", "./schedule.py"]
batch_size = 8
common = dict(mean=[0.5])
epochs = 4
epochs = 5
data = dict(**_base_.norm, **common, size=3)
both = {**common, **_base_.norm, "mean": 2}
