def old(x):
    return x, x, x
