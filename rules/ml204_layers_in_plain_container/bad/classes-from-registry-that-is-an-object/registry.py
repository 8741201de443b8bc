class Registry:
    def __init__(self):
        self._classes = {}

    def register(self, name=None):
        def wrap(cls):
            self._classes[name or cls.__name__] = cls
            return cls

        return wrap

    def add(self, name, cls):
        self._classes[name] = cls

    def get(self, name):
        return self._classes[name]

    def build(self, name, *args):
        return self.get(name)(*args)


BLOCKS = Registry()
HEADS = Registry()
