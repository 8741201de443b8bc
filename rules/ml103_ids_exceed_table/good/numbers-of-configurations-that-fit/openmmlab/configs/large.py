_base_ = "./base.py"
model = dict(classes=1024)
