model = dict(
    type="Net",
    trunk=dict(type="Trunk", depth=4, width=64),
    head=dict(type="LinearHead", width=64, outputs=10),
)
