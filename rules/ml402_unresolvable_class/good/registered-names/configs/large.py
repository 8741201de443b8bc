_base_ = ["./base.py"]

model = dict(
    trunk=dict(_delete_=True, type="torch.nn.Linear", in_features=64, out_features=64),
    head=dict(type="FlatHead"),
    test_cfg=dict(type="Trunc", size=3),
)
optimizer = dict(type="SGD", lr=0.1)
hooks = [dict(type="CheckpointHook", interval=1)]
