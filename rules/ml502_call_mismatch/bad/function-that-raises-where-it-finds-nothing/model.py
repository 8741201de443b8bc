from torch import nn


class Head(nn.Module):
    def __init__(self, width, classes):
        if classes < 2:
            raise ValueError("nothing to tell apart")
        super().__init__()
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        return self.fc(x)


def find_layer(model, kind):
    for layer in model.modules():
        if isinstance(layer, kind):
            return layer
    raise LookupError("no such layer")


def build(width):
    head = Head(width)  # expect: ML502
    return find_layer(head, nn.Linear, True)  # expect: ML502
