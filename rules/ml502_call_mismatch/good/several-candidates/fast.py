def attend(x, y):
    return x + y


def norm(x, eps):
    return x
