_base_ = ["./base.py"]
resume = True
