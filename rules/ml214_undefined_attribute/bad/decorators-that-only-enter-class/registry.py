import functools

TABLE = {}


def register(cls=None, *, name=None):
    if cls is None:
        return functools.partial(register, name=name)
    TABLE[name or cls.__name__] = cls
    return cls


def named(name):
    def enter(cls):
        cls.name = name
        TABLE[name] = cls
        return cls

    return enter


class Registry:
    def __init__(self):
        self.entries = {}

    def _enter(self, cls, name):
        self.entries[name or cls.__name__] = cls

    def register(self, name=None):
        def enter(cls):
            self._enter(cls, name)
            return cls

        return enter


BLOCKS = Registry()


class Memory:
    def remember(self, memory):
        return memory


def kept(cls):
    cls.__bases__ = (Memory, *cls.__bases__)
    return cls
