model = dict(
    type="Net",
    trunk=dict(type="Trunk", depth=4, frozen=1),
    heads=[dict(type="Head", width=64), dict(type="Head", width=64)],
    proposal=dict(type="Trunk", nms=0.7),
    weights="weights.pth",
)
custom_hooks = [dict(type="Trunk", depth=1, priority=50)]
