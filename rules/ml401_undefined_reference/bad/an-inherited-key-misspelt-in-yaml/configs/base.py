outputs = 10
model = dict(type="Net", depth=4, head=dict(type="Head", in_features=64, out_features=outputs))
