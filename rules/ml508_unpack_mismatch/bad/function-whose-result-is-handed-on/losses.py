from torch import nn


def concatenated(model: nn.Module, x):
    chosen, rejected = model(x)
    return chosen, rejected, chosen - rejected


def forward(model: nn.Module, x):
    return concatenated(model, x)


def loss(model: nn.Module, x):
    chosen, rejected = forward(model, x)  # expect: ML508
    return chosen - rejected


def difference(chosen, rejected, is_plain=True):
    if is_plain:
        result = (chosen, rejected)
    else:
        result = (rejected, chosen)
    a, b, c = result  # expect: ML508
    return a - b
