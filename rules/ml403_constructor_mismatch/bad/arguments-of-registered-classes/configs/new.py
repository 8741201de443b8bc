model = dict(
    type="Net",
    trunk=dict(_delete_=True, type="Trunk", depth=2),  # expect: ML403
    head=dict(width=64, outputs=2),  # expect: ML403
)
