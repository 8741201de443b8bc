import functools

import hydra
from contextlib import contextmanager


@hydra.main(config_path="configs", config_name="train")
def main(cfg):
    return cfg


def with_seed(function):
    @functools.wraps(function)
    def wrapper(*args, seed=0):
        return function(*args, seed)

    return wrapper


@with_seed
def sample(model, seed):
    return model(seed)


@contextmanager
def muted(stream):
    yield stream


class Net:
    @property
    def head(self):
        return lambda x: x

    @head.setter
    def head(self, value):
        self._head = value

    def __call__(self, x):
        return self.head(x)


if __name__ == "__main__":
    main()
    sample(Net())
