class Collection:
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return cls.stacked(args[0])

    @classmethod
    def stacked(cls, items):
        return items[0]

    @classmethod
    def from_module(cls, module):
        return cls()

    def fast_apply(self, function):
        return self
