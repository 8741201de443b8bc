seed = 1
model = dict(type="Net", in_features=4, out_features=2)
