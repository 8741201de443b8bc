_base_ = "./base.py"

steps = dict(type="Linear")  # expect: ML409
epochs = dict(warm=1, cold=2)  # expect: ML409
clip = dict(norm=1.0)  # expect: ML409
