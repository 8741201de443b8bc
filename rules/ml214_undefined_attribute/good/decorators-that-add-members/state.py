def with_cache(cls):
    cls.__bases__ = (Cached, *(base for base in cls.__bases__ if base is not Cached))
    return cls


class Cached:
    def past(self, memory):
        return None if memory is None else memory.get("past")


def with_scale(value):
    def add(cls):
        def scaled(self, x):
            return x * value

        cls.scaled = scaled
        setattr(cls, "scale", value)
        return cls

    return add


def with_methods(*names):
    def add(cls):
        for name in names:
            setattr(cls, name, lambda self, x: x)
        return cls

    return add


def counted(cls):
    class Counted(cls):
        def count(self):
            return 0

    return Counted
