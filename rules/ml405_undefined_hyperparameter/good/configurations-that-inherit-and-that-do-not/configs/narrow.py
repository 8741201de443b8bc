_base_ = "./defaults.py"
rate = 0.2
model = dict(type="Net", in_features=2, out_features=2)
