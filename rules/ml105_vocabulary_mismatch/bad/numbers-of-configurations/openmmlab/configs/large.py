_base_ = "./base.py"
model = dict(
    classes=999,  # expect: ML105
)
