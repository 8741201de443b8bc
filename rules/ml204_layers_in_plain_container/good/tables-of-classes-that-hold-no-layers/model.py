from torch import nn


class Registry(dict):
    def register(self, name):
        def wrap(made):
            self[name] = made
            return made

        return wrap


SCALES = Registry()
HEADS = Registry()


@SCALES.register("twice")
def twice(x):
    return 2 * x


class Factory:
    table = {}
    settings = {}

    @classmethod
    def register(cls, name):
        def wrap(made):
            cls.table[name] = made
            return made

        return wrap

    @classmethod
    def create(cls, name, **options):
        return cls.table[name](**options)

    @classmethod
    def note(cls, name, value):
        cls.settings[name] = value


Factory.note("width", 16)


@Factory.register("relu")
class Relu(nn.Module):
    def forward(self, x):
        return x.relu()


@HEADS.register("head")
class Head(nn.Module):
    known = {}

    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, 1)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Head.known[cls.__name__] = cls

    def forward(self, x):
        return self.lin(x)


class Wide(Head):
    def forward(self, x):
        return 2 * self.lin(x)


class Stack(nn.Module):
    def __init__(self, width, names=("relu",), heads=("head",)):
        super().__init__()
        self.scales = [SCALES[name] for name in ("twice",)]
        self.acts = [Factory.create(name) for name in names]
        self.sizes = [Factory.settings[name] for name in ("width",)]
        self.heads = nn.ModuleDict({name: HEADS[name](width) for name in heads})
        self.others = nn.ModuleList(Head.known[name](width) for name in ("Wide",))

    def forward(self, x):
        for act, scale in zip(self.acts, self.scales):
            x = scale(act(x)) + self.sizes[0]
        return [head(x) for head in (*self.heads.values(), *self.others)]
