from torch import nn


class Drawing(nn.Module):
    def __init__(self, width=64, classes=100):
        super().__init__()
        self.head = nn.Linear(width, classes)
        self.back = nn.Linear(width, width)

    def forward(self, x, features=False, is_last=False):
        if features:
            return self.back(x)
        return self.head(x).argmax(-1)


class Reading(nn.Module):
    def __init__(self, width=64, classes=100):
        super().__init__()
        self.drawing = Drawing(width, classes)
        self.table = nn.Embedding(classes, width)

    def forward(self, x, return_features=True):
        found = self.drawing(x, features=return_features)
        if not return_features:
            return found
        return self.table(found)  # expect: ML102

    def of_another(self, x, features=True, is_last=False):
        found = self.drawing(x, features, is_last)
        if is_last:
            return found
        return self.table(found)  # expect: ML102

    def either(self, x, features=True, is_last=True):
        found = self.drawing(x, features)
        if is_last or not features:
            return self.table(found)  # expect: ML102
        return found

    def changed(self, x, features):
        found = self.drawing(x, features)
        features = False
        if not features:
            found = self.table(found)  # expect: ML102
        return found

    def for_sure(self, x):
        return self.table(self.drawing(x, True))  # expect: ML102
