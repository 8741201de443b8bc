import torch


def run(x, is_plain):
    scale = 2.0 if is_plain else x.std()
    try:
        return torch.log(2.0)
    except TypeError:
        return torch.log(scale)
