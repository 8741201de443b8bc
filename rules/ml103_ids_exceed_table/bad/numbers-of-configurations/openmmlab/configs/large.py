_base_ = "./base.py"
model = dict(
    classes=1026,  # expect: ML103
)
