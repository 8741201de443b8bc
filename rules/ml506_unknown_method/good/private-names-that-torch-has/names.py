import torch


def check(x):
    torch._assert(x.ndim == 2, "two dimensions")
    if x.storage() in torch._storage_classes.copy():
        return torch._C._get_tracing_state()
    return torch._VF.relu(x)


def texts():
    try:
        return torch._six.string_classes
    except AttributeError:
        return (str, bytes)


def numbers():
    if hasattr(torch, "_six"):
        return torch._six.inf
    return float("inf")
