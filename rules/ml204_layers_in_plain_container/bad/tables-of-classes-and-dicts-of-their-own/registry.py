class Registry(dict):
    def register(self, name):
        def wrap(cls):
            self[name] = cls
            return cls

        return wrap


HEADS = Registry()


class Factory:
    table = {}

    @classmethod
    def register(cls, name):
        def wrap(made):
            cls.table[name] = made
            return made

        return wrap

    @classmethod
    def create(cls, name, **options):
        return cls.table[name](**options)
