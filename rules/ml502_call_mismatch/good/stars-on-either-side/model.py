from torch import nn


def pool(x, *sizes, keep=False, **options):
    return x


class Model(nn.Module):
    def __init__(self, width, **kwargs):
        super().__init__()
        self.proj = nn.Linear(width, width, **kwargs)

    def mix(self, x, y, z=None):
        return x

    @staticmethod
    def scale(x, factor):
        return x * factor

    @classmethod
    def small(cls, width=8):
        return cls(width, bias=False)

    def forward(self, x, *more, **options):
        x = self.mix(*more, **options)
        x = pool(x, 1, 2, 3, keep=True, mode="max")
        return self.scale(self.proj(x), 2)


model = Model.small(4)
model(1, 2, 3, four=4)
Model.mix(model, 1, 2)
