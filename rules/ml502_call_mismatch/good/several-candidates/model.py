try:
    from fast import attend
except ImportError:
    from slow import attend

if attend is not None:
    from fast import norm
else:

    def norm(x):
        return x


def mix(x):
    return x


def mix(x, y):
    return x + y


class Model:
    if attend is not None:

        def step(self, x, y):
            return attend(x, y)

    else:

        def step(self, x):
            return attend(x, 1, 2)

    def run(self, x):
        return mix(self.step(x), norm(x, 1e-6))
