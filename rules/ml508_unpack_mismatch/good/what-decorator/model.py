import functools


def paired(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x), x

    return wrapper


@paired
def encode(x):
    return x, x, x


def old(x):
    return x, x


try:
    from fast import old
except ImportError:
    pass


def run(x):
    a, b = encode(x)
    c, d, e = old(x)
    return a, c


def guess(x):
    try:
        a, b, c = x, x
    except ValueError:
        a, b, c = x, x, x
    return a
