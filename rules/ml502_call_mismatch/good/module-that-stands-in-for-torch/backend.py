def exp(x, gamma):
    return x**gamma


def cat(*parts):
    return sum(parts)
