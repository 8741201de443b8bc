_base_ = ["./base.py"]

model = dict(head=dict(type="Head"))  # expect: ML402
