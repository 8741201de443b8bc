from functools import wraps

from torch import nn


def documented(text):
    def inner(function):
        lines = function.__doc__.split("\n")
        lines[0] = text
        function.__doc__ = "\n".join(lines)
        return function

    return inner


def scaled(key):
    def inner(function):
        @wraps(function)
        def wrapper(self, *args, **kwargs):
            options = dict(kwargs.get(key) or {})
            kwargs[key] = options
            return function(self, *args, **kwargs)

        return wrapper

    return inner


class Classifier(nn.Module):
    def __init__(self, net, width, n_classes):
        super().__init__()
        self.net = net
        self.width = width
        self.n_classes = n_classes

    @documented("Scores of all classes.")
    @scaled("options")
    def forward(self, x, options=None):
        """Scores."""
        head = nn.Linear(self.width, self.n_classes)  # expect: ML206
        return head(self.net(x))
