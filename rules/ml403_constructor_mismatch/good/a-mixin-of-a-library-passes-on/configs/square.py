param_scheduler = [
    dict(type="SquareLR", by_epoch=True, begin=0, end=5),
    dict(type="SquareLR", by_epoch=False, begin=5, end=9),
]
