model = dict(
    type="Pair",
    first=dict(type="Flat", width=8),
    second=dict(type="Flat", width=8),
    rate=0.5,
)
