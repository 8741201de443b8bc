from torch import nn


class Named:
    def __init__(self, name, **options):
        super().__init__(**options)
        self.name = name


class Encoder(Named, nn.Module):
    def __init__(self, name, width):
        super().__init__(name)
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)


class Plain:
    def __init__(self, name):
        self.name = name


class Both(Plain, nn.Module):
    def __init__(self, name, width):
        nn.Module.__init__(self)
        Plain.__init__(self, name)
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)


class Last(nn.Module, Plain):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)


class Skipped(Encoder):
    def __init__(self, name, width):
        super(Named, self).__init__()
        self.lin = nn.Linear(width, width)
