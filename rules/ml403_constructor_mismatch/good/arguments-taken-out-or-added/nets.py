from torch import nn

from registry import MODELS


@MODELS.register_module()
class Trunk(nn.Module):
    def __init__(self, depth, width=64):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        return self.layers[0](x)


@MODELS.register_module()
class Head(nn.Module):
    def __init__(self, width, train_cfg):
        super().__init__()
        self.out = nn.Linear(width, 2)
        self.train_cfg = train_cfg

    def forward(self, x):
        return self.out(x)


class Base(nn.Module):
    def __init__(self, weights=None):
        super().__init__()
        self.weights = weights


@MODELS.register_module()
class Net(Base):
    def __init__(self, trunk, heads, train_cfg=None, proposal=None, **kwargs):
        super().__init__(**kwargs)
        self.frozen = trunk.pop("frozen", 0)
        self.trunk = MODELS.build(trunk)
        self.heads = nn.ModuleList()
        for head in heads:
            head.update(train_cfg=train_cfg)
            self.heads.append(MODELS.build(head))
        self.proposal = proposal

    def forward(self, x):
        x = self.trunk(x)
        return [head(x) for head in self.heads]
