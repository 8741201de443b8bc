_base_ = "counting::net/net_base.py"

model = dict(
    type="Net",
    trunk=dict(
        _delete_=True,
        type="Trunk",  # expect: ML403
        depth=2,
    ),
    output=3,  # expect: ML403
)
