_base_ = "./base.py"

depth = 8
doubled = width * 2  # expect: ML401
model = dict(trunk=dict(depth=deph))  # expect: ML401
