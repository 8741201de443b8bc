import torch.nn.functional as F
from torch import nn


def try_to_build(parts):
    try:
        return nn.Sequential(nn.Linear(3, 3), F.relu)
    except TypeError:
        return nn.Sequential(*parts)
