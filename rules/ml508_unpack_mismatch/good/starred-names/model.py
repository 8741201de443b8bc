from collections import namedtuple

Output = namedtuple("Output", "logits hidden")


def parts(x):
    yield x, x
    return 1, 2, 3


def output(x):
    return Output(x, x)


def several(x, *more):
    return (x, *more)


first, *rest = 1, 2, 3
a, b, c = parts(0)
logits, hidden, loss = output(0)
x, y = several(0, 1, 2)
