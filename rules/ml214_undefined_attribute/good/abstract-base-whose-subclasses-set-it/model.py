from torch import nn

from base import Encoder, Frozen


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(3, 3)


class Model(Frozen, Backbone):
    pass


class Small(Encoder):
    def __init__(self):
        super().__init__()
        self.head, (self.embed, _) = nn.Linear(3, 3), (nn.Embedding(3, 3), None)
