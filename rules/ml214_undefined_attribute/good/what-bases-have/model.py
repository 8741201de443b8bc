from torch import nn

from base import Base


class Scaled(nn.Linear):
    def forward(self, x):
        y = nn.functional.linear(x, self.weight, self.bias)
        return y * self.in_features if self.training else y


class Conv(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, self.weight * self.groups, self.bias)


class Model(Base):
    limit: float = 1.0
    names = ("a", "b")

    class Config:
        depth = 2

    @property
    def half(self):
        return self.width // 2

    def forward(self, x):
        parameters = list(self.parameters())
        return self.scale(self.proj(x)) * self.half * self.limit * self.Config.depth * len(self.names)
