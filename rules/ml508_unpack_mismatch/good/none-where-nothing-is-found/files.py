def find(x, strict):
    if not x:
        return None
    if strict:
        return x, x
    return x.pair()


def choose(x, mode="pair"):
    if mode == "pair":
        return x, x
    elif mode == "triple":
        return x, x, x
    raise ValueError(mode)


a, b, c = find([1], False)
d, e, f = choose(1, "triple")
g, h = choose(1)
for key, value in {}.items():
    pass
for index, (left, right) in enumerate(zip([1], [2])):
    pass
