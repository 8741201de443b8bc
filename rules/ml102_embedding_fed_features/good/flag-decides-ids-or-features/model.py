from torch import nn


class Drawing(nn.Module):
    def __init__(self, width=64, classes=100):
        super().__init__()
        self.head = nn.Linear(width, classes)
        self.back = nn.Linear(width, width)

    def forward(self, x, features=False):
        if features:
            return self.back(x)
        return self.head(x).argmax(-1)

    def both(self, x, kind):
        if kind == "features":
            return self.back(x), None
        return self.head(x).argmax(-1), None

    def handed_on(self, x, *, flag):
        return self(x, features=flag)


class Reading(nn.Module):
    def __init__(self, gives_features, width=64, classes=100):
        super().__init__()
        self.drawing = Drawing(width, classes)
        self.table = nn.Embedding(classes, width)
        self.gives_features = gives_features

    def forward(self, x, return_features=False):
        found = self.drawing(x, features=return_features)
        if return_features:
            return found
        return self.table(found)

    def turned_round(self, x, return_ids):
        found = self.drawing.handed_on(x, flag=not return_ids)
        return self._read(found) if return_ids else found

    def of_kind(self, x, kind):
        found, _ = self.drawing.both(x, kind)
        if kind == "ids":
            return self.table(found)
        return found

    def compared(self, x, kind, is_last):
        found = self.drawing(x, kind != "ids")
        if kind == "ids" and not is_last:
            found = self.table(found)
        return found

    def by_attribute(self, x):
        found = self.drawing(x, self.gives_features)
        if not self.gives_features:
            found = self.table(found)
        return found

    def never(self, x, features):
        assert not features
        return self.table(self.drawing(x, features)) + self.table(self.drawing(x)) + self.table(self.drawing(x, False))

    def _read(self, ids):
        return self.table(ids)
