_base_ = ["base.py", "mmdet::_base_/default_runtime.py", "more.yaml"]

steps = dict(_delete_=True, type="Linear")
epochs = [1, 2]
lists = dict(a=[2], b=dict(c=1))
level = dict(a=2)
