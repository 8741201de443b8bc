model = dict(
    type="Wrapped",
    inner=dict(base=dict(type="Flat", width=8), adapter=dict(type="Adapter", depth=2, rate=0.5)),
)
