_base_ = "counting::net/net_base.py"

model = dict(type="Net", trunk=dict(type="Trunk", depth=2))
