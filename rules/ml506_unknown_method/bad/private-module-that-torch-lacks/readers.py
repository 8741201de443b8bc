import torch


def read(path, normalise):
    if isinstance(path, torch._six.string_classes):  # expect: ML506
        path = open(path)
    found = torch.load(path)
    limit = torch._six.inf  # expect: ML506
    return normalise(found, limit)
