shown = [
    dict(type="Resize", scale=(384, 384)),
]
net = dict(type="Net", in_features=4, out_features=2)


def settings_of(mode="normal"):
    return dict(type="Net", in_features=2, out_features=2) if mode == "normal" else net
