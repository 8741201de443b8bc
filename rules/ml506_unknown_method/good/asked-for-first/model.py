import torch


def run(x):
    y = torch.stack(x)
    if hasattr(y, "full_tensor"):
        y = y.full_tensor()
    if isinstance(y, Wrapped):
        y = y.unwrap()
    try:
        return y.local()
    except AttributeError:
        return y


class Wrapped(torch.Tensor):
    pass
