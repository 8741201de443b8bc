import torch


def stacked(kind, modules):
    items = [kind.from_module(module) for module in modules]
    return torch.stack(items).fast_apply(lambda item: item)
