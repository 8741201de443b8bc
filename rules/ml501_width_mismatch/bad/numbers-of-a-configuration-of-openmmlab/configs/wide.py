_base_ = "./base.py"
model = dict(
    hidden=256,  # expect: ML501
)
