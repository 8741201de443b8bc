import extra
import torch.nn.functional as F
from torch import nn


def build(x):
    return nn.Swish()(x), F.swish(x), extra.Swish
