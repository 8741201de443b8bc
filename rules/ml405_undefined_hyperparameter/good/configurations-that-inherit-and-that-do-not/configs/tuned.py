rate = 0.3
steps = 10
model = dict(net=dict(type="Net", in_features=2, out_features=2))
