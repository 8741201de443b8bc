from torch import nn


class Base(nn.Module):
    def __init__(self, width, depth=2, dropout=0.0):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.dropout = nn.Dropout(dropout)


class Tagger(Base):
    def __init__(self, labels, *args, **kwargs):
        scale = kwargs.pop("scale", 1.0)
        super().__init__(*args, **kwargs)
        self.head = nn.Linear(labels, labels)
        self.scale = scale


class Wide(Base):
    def __init__(self, labels, **kwargs):
        super().__init__(64, **kwargs)
        self.options = kwargs


class Plain(nn.Module):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.width = width
